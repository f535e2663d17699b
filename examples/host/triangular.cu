// The upper half of a symmetric matrix: the inner loop's start becomes part of the index.
void upperHalf(int n, const float* in, float* out) {
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            out[i * n + j] = 0.5f * (in[i * n + j] + in[j * n + i]);
}
