// A host function that `Generate kernel from 'diffuse'` turns into a kernel of two dimensions.
void diffuse(int rows, int columns, float rate, const float* in, float* out) {
    for (int y = 1; y < rows - 1; y++) {
        for (int x = 1; x < columns - 1; x++) {
            // The four neighbours against the middle.
            float middle = in[y * columns + x];
            float around = in[(y - 1) * columns + x] + in[(y + 1) * columns + x] +
                           in[y * columns + x - 1] + in[y * columns + x + 1];
            out[y * columns + x] = middle + rate * (around - 4.0f * middle);
        }
    }
}
