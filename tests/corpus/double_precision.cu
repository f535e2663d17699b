// Double precision: a CAS-built maximum, a compensated dot product, special functions.
__device__ double atomicMaxDouble(double* address, double val) {
    unsigned long long int* address_as_ull = (unsigned long long int*)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed, __double_as_longlong(fmax(val, __longlong_as_double(assumed))));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__global__ void largest(const double* in, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMaxDouble(out, in[i]);
}
__global__ void dotCompensated(const double* a, const double* b, double* out, int n) {
    double sum = 0, carry = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double p = __dmul_rn(a[i], b[i]);
        double y = p - carry, t = sum + y;
        carry = (t - sum) - y;
        sum = t;
    }
    atomicAdd(out, sum);
}
__global__ void special(double* v, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        v[i] = erf(v[i]) + lgamma(fabs(v[i]) + 1) + normcdf(v[i]) + rsqrt(v[i] * v[i] + 1.0) + sinpi(v[i]) + cbrt(v[i]);
}
void run(double* a, double* b, double* r, int n) {
    largest<<<(n + 255) / 256, 256>>>(a, r, n);
    dotCompensated<<<1, 64>>>(a, b, r, n);
    special<<<(n + 63) / 64, 64>>>(a, n);
}
