// Adds up the elements of each list that is marked.
#include <cuda_runtime.h>

__global__ void sumLists(const int* marks, const int* begins, const float* elements, float* sums,
                         int lists) {
    int list = blockIdx.x * blockDim.x + threadIdx.x;
    if (list < lists && marks[list] != 0) {
        float sum = 0.0f;
        for (int at = begins[list]; at < begins[list + 1]; ++at)
            sum += elements[at]; // of lists that differ in length
        sums[list] = sum;
    }
}

void launchSumLists(const int* marks, const int* begins, const float* elements, float* sums,
                    int lists) {
    sumLists<<<(lists + 255) / 256, 256>>>(marks, begins, elements, sums, lists);
}
