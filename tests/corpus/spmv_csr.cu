// Sparse matrix times vector: a thread a row, then a warp a row.
template <typename Index, typename Value>
__global__ void spmvScalar(Index rows, const Index* __restrict__ ptr, const Index* __restrict__ col,
                           const Value* __restrict__ val, const Value* __restrict__ x, Value* y) {
    Index row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        Value dot = 0;
        for (Index jj = ptr[row]; jj < ptr[row + 1]; jj++)
            dot += val[jj] * x[col[jj]];
        y[row] = dot;
    }
}
template <typename Index, typename Value>
__global__ void spmvVector(Index rows, const Index* __restrict__ ptr, const Index* __restrict__ col,
                           const Value* __restrict__ val, const Value* __restrict__ x, Value* y) {
    Index row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    Value dot = 0;
    for (Index jj = ptr[row] + lane; jj < ptr[row + 1]; jj += 32)
        dot += val[jj] * __ldg(&x[col[jj]]);
    for (int d = 16; d; d >>= 1)
        dot += __shfl_down_sync(0xffffffffu, dot, d);
    if (lane == 0)
        y[row] = dot;
}
void spmv(int rows, const int* ptr, const int* col, const double* val, const double* x, double* y) {
    spmvScalar<int, double><<<(rows + 127) / 128, 128>>>(rows, ptr, col, val, x, y);
    spmvVector<int, double><<<(rows * 32 + 127) / 128, 128>>>(rows, ptr, col, val, x, y);
}
