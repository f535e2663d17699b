__global__ void hot(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 2;
}

int main() {
    float* x;
    cudaMalloc(&x, 1 << 20);
    hot<<<64, 128>>>(x, 8192);
    cudaDeviceSynchronize();
}
