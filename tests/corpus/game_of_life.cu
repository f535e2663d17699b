// A generation of Conway's cells on a torus; the number alive by a block-wide count.
__global__ void generation(const unsigned char* now, unsigned char* next, int w, int h, unsigned int* alive) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    bool live = false;
    if (x < w && y < h) {
        int neighbours = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (dx || dy)
                    neighbours += now[((y + dy + h) % h) * w + (x + dx + w) % w];
        live = neighbours == 3 || (neighbours == 2 && now[y * w + x]);
        next[y * w + x] = live;
    }
    int count = __syncthreads_count(live);
    if (threadIdx.x == 0 && threadIdx.y == 0)
        atomicAdd(alive, count);
}
int main() {
    const int w = 100, h = 70;
    unsigned char* cells[2];
    unsigned int* alive;
    for (auto& c : cells)
        cudaMalloc(&c, w * h);
    cudaMalloc(&alive, sizeof(unsigned int));
    for (int i = 0; i < 10; ++i)
        generation<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(cells[i % 2], cells[(i + 1) % 2], w, h, alive);
}
