// Radius-3 average with a halo in shared memory.
#define RADIUS 3
#define BLOCK 256
__global__ void stencil1d(const int* in, int* out, int n) {
    __shared__ int temp[BLOCK + 2 * RADIUS];
    int g = threadIdx.x + blockIdx.x * blockDim.x;
    int l = threadIdx.x + RADIUS;
    temp[l] = g < n ? in[g] : 0;
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0;
        temp[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;
    }
    __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += temp[l + offset];
    if (g < n)
        out[g] = result;
}
int main() {
    int n = 10000, *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    stencil1d<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
    cudaDeviceSynchronize();
}
