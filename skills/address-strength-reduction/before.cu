// Lens shading of an 8-bit image over one flat index: each round divides for its row and column.
#include <cuda_runtime.h>

__global__ void shade(const unsigned char* in, const float* rowGain, const float* columnGain,
                      unsigned char* out, int rows, int columns) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * columns;
         i += gridDim.x * blockDim.x) {
        int row = i / columns;
        int column = i % columns; // of the gain, too
        out[i] = fminf(in[i] * rowGain[row] * columnGain[column], 255.0f);
    }
}

// 64 pixels a thread.
void launchShade(const unsigned char* in, const float* rowGain, const float* columnGain,
                 unsigned char* out, int rows, int columns) {
    int blocks = (rows * columns + 16383) / 16384;
    shade<<<blocks, 256>>>(in, rowGain, columnGain, out, rows, columns);
}
