// Each thread finds the cluster that is nearest to its point.
#include <cuda_runtime.h>

__constant__ float centres[1024];

__global__ void nearest(const float* features, int* membership, int points, int clusters,
                        int dimensions) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points)
        return;
    float smallest = 1e30f;
    int index = -1;
    for (int i = 0; i < clusters; i++) {
        float sum = 0.0f;
        for (int j = 0; j < dimensions; j++) {
            float difference = features[j * points + point] - centres[i * dimensions + j];
            sum += difference * difference;
        }
        if (sum < smallest) {
            smallest = sum;
            index = i;
        }
    }
    membership[point] = index;
}

void launchNearest(const float* features, int* membership, int points, int clusters,
                   int dimensions) {
    nearest<<<(points + 255) / 256, 256>>>(features, membership, points, clusters, dimensions);
}
