// Rows and columns become threads; the sum over k stays within each.
void matmul(int m, int n, int k, const double* a, const double* b, double* c) {
    for (int row = 0; row < m; row++) {
        for (int column = 0; column < n; column++) {
            double sum = 0.0;
            for (int i = 0; i < k; i++)
                sum += a[row * k + i] * b[i * n + column];
            c[row * n + column] = sum;
        }
    }
}
