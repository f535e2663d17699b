// Lens shading of an 8-bit image over one flat index: each round divides for its row and column.
#include <cuda_runtime.h>

__global__ void shade(const unsigned char* in, const float* rowGain, const float* columnGain,
                      unsigned char* out, int rows, int columns) {
    // i divided by columns, carried from round to round.
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int step = gridDim.x * blockDim.x;
    int quotient = first / columns;
    int remainder = first % columns;
    const int quotientStep = step / columns;
    const int remainderStep = step % columns;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * columns;
         i += gridDim.x * blockDim.x) {
        int row = quotient;
        int column = remainder; // of the gain, too
        out[i] = fminf(in[i] * rowGain[row] * columnGain[column], 255.0f);
        remainder += remainderStep;
        quotient += quotientStep;
        if (remainder >= columns) {
            remainder -= columns;
            ++quotient;
        }
    }
}

// 64 pixels a thread.
void launchShade(const unsigned char* in, const float* rowGain, const float* columnGain,
                 unsigned char* out, int rows, int columns) {
    int blocks = (rows * columns + 16383) / 16384;
    shade<<<blocks, 256>>>(in, rowGain, columnGain, out, rows, columns);
}
