#include <cmath>

// One thread a row: the loops within a row stay loops.
void rowSoftmax(int rows, int columns, const float* in, float* out) {
    for (int row = 0; row < rows; row++) {
        float top = in[row * columns];
        for (int i = 1; i < columns; i++)
            top = std::fmax(top, in[row * columns + i]);
        float sum = 0.0f;
        for (int i = 0; i < columns; i++)
            sum += std::exp(in[row * columns + i] - top);
        for (int i = 0; i < columns; i++)
            out[row * columns + i] = std::exp(in[row * columns + i] - top) / sum;
    }
}
