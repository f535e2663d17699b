// A chain of small kernels captured into a graph and replayed, with streams, events and mapped memory.
#include <cuda_runtime.h>
#include <vector>
__global__ void shift(float* data, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += by;
}
float replay(int n, int steps) {
    float* data;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaEvent_t start, stop;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMallocAsync(&data, n * sizeof(float), stream);
    cudaEventCreate(&start);
    cudaEventCreateWithFlags(&stop, cudaEventDefault);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int k = 0; k < 20; ++k)
        shift<<<(n + 255) / 256, 256, 0, stream>>>(data, 0.5f * k, n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&instance, graph, 0);
    cudaEventRecord(start, stream);
    for (int i = 0; i < steps; ++i)
        cudaGraphLaunch(instance, stream);
    cudaEventRecord(stop, stream);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    std::vector<float> host(n);
    cudaMemcpyAsync(host.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaFreeAsync(data, stream);
    cudaGraphExecDestroy(instance);
    cudaGraphDestroy(graph);
    return ms;
}
