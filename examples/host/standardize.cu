// A host function of three loops, two of them sums: `Generate kernel from 'standardize'` makes kernels
// of all three and keeps the array on the GPU from one to the next.
#include <cmath>

void standardize(int n, float* x) {
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    const float mean = sum / n;

    float squares = 0;
    for (int i = 0; i < n; i++) {
        // Of the distance from the mean.
        const float distance = x[i] - mean;
        squares += distance * distance;
    }
    const float scale = 1 / std::sqrt(squares / n + 1e-6f);

    for (int i = 0; i < n; i++)
        x[i] = (x[i] - mean) * scale;
}
