/* Sorts 6000 packed records of 12 bytes by merging; some of their fields lie across lines. */
#include <stdint.h>
#include <stdio.h>

#define N 6000

#pragma pack(push, 1)
struct record {
    uint64_t key;
    uint32_t value;
};
#pragma pack(pop)

static struct record from[N], to[N];

static void merge(struct record *in, struct record *out, int begin, int middle, int end)
{
    int left = begin, right = middle;
    for (int at = begin; at < end; at++)
        if (left < middle && (right >= end || in[left].key <= in[right].key))
            out[at] = in[left++];
        else
            out[at] = in[right++];
}

int main(void)
{
    struct record *in = from, *out = to;
    uint64_t state = 1;
    for (int i = 0; i < N; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        in[i] = (struct record){state >> 16, (uint32_t)i};
    }
    for (int width = 1; width < N; width *= 2) {
        for (int begin = 0; begin < N; begin += 2 * width) {
            int middle = begin + width < N ? begin + width : N;
            int end = begin + 2 * width < N ? begin + 2 * width : N;
            merge(in, out, begin, middle, end);
        }
        struct record *other = in;
        in = out;
        out = other;
    }
    printf("%u\n", in[N / 2].value);
    return 0;
}
