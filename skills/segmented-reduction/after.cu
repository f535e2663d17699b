// y += A x, with one thread for each entry of a sparse matrix whose entries are sorted by rows.
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

__global__ void addProducts(const int* row, const int* column, const float* value, const float* x,
                            float* y, int entries) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < entries) {
        const int target = row[e];
        const auto alike =
            cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), target);
        float sum = value[e] * x[column[e]];
        sum = cooperative_groups::reduce(alike, sum, cooperative_groups::plus<float>());
        if (alike.thread_rank() == 0)
            atomicAdd(&y[target], sum);
    }
}

void launchAddProducts(const int* row, const int* column, const float* value, const float* x,
                       float* y, int entries) {
    addProducts<<<(entries + 255) / 256, 256>>>(row, column, value, x, y, entries);
}
