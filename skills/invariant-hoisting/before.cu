// Adds up samples whose weight decays with their age, with one thread for each channel.
__global__ void decay(const float* samples, float* sums, float base, float rate, int rounds,
                      int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int r = 0; r < rounds; ++r)
        sum = sum * (1.0f - powf(base, rate)) + samples[r * n + i];
    sums[i] = sum;
}

void run(float base, float rate, int rounds, int n) {
    float *samples, *sums;
    cudaMalloc(&samples, rounds * n * sizeof(float));
    cudaMalloc(&sums, n * sizeof(float));
    decay<<<(n + 255) / 256, 256>>>(samples, sums, base, rate, rounds, n);
}
