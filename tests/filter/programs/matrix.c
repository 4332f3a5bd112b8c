/* Multiplies two matrices of 44 x 44 doubles the plain way: rows by columns. */
#include <stdio.h>

#define N 44

static double a[N][N], b[N][N], c[N][N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    printf("%.0f\n", c[N / 2][N / 3]);
    return 0;
}
