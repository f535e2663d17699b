// Defines the C library's minimum and maximum for kernels as GPUs have them: -0 is less than +0.
// The C library of the host gives either zero, which depends on the order of the arguments.
#include <cmath>

namespace {

template <class T>
T lesser(T a, T b) {
    if (a == b)
        return std::signbit(a) ? a : b;
    return a < b || std::isnan(b) ? a : b;
}

template <class T>
T greater(T a, T b) {
    if (a == b)
        return std::signbit(a) ? b : a;
    return a > b || std::isnan(b) ? a : b;
}

} // namespace

extern "C" {

float fminf(float a, float b) noexcept {
    return lesser(a, b);
}
float fmaxf(float a, float b) noexcept {
    return greater(a, b);
}
double fmin(double a, double b) noexcept {
    return lesser(a, b);
}
double fmax(double a, double b) noexcept {
    return greater(a, b);
}

} // extern "C"
