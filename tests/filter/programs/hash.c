/* Fills a hash table with chains and looks its keys up in random order. */
#include <stdint.h>
#include <stdio.h>

#define ENTRIES 4096
#define BUCKETS 2048
#define LOOKUPS 20000

struct entry {
    uint64_t key, value;
    struct entry *next;
    uint64_t pad[3]; /* entries of 48 bytes lie across lines */
};

static struct entry entries[ENTRIES];
static struct entry *buckets[BUCKETS];

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int main(void)
{
    uint64_t sum = 0;
    for (uint64_t key = 0; key < ENTRIES; key++) {
        struct entry *entry = &entries[key];
        struct entry **bucket = &buckets[mix(key) % BUCKETS];
        *entry = (struct entry){.key = key, .value = key * key, .next = *bucket};
        *bucket = entry;
    }
    for (uint64_t i = 0; i < LOOKUPS; i++) {
        uint64_t key = mix(i + ENTRIES) % ENTRIES;
        struct entry *entry = buckets[mix(key) % BUCKETS];
        while (entry->key != key)
            entry = entry->next;
        sum += entry->value++;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
