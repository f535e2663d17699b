// Triangles, points, boxes and rays.
#include <cuda_runtime.h>
#include <math_constants.h>

struct Triangle {
    float3 a, b, c;
};
struct Box {
    float3 low, high;
};
struct Ray {
    float3 origin, direction;
};

static __device__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
static __device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__constant__ float view[16];

__global__ void normals(const Triangle* mesh, float3* normal, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        Triangle t = mesh[i];
        float3 n = cross(t.b - t.a, t.c - t.a);
        float inverse = 1.0f / sqrtf(dot(n, n) + 1e-12f);
        normal[i] = make_float3(n.x * inverse, n.y * inverse, n.z * inverse);
    }
}

__global__ void projectPoints(const float4* points, float2* screen, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = points[i];
    float x = view[0] * p.x + view[1] * p.y + view[2] * p.z + view[3];
    float y = view[4] * p.x + view[5] * p.y + view[6] * p.z + view[7];
    float w = view[12] * p.x + view[13] * p.y + view[14] * p.z + view[15];
    screen[i] = make_float2(x / (w + 1.5f), y / (w + 1.5f));
}

__global__ void boundsOfBlocks(const float* x, const float* y, const float* z, Box* boxes, int n) {
    __shared__ float low[3][128], high[3][128];
    int t = threadIdx.x;
    int i = blockIdx.x * 128 + t;
    low[0][t] = high[0][t] = i < n ? x[i] : x[0];
    low[1][t] = high[1][t] = i < n ? y[i] : y[0];
    low[2][t] = high[2][t] = i < n ? z[i] : z[0];
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s)
            for (int axis = 0; axis < 3; ++axis) {
                low[axis][t] = fminf(low[axis][t], low[axis][t + s]);
                high[axis][t] = fmaxf(high[axis][t], high[axis][t + s]);
            }
        __syncthreads();
    }
    if (t == 0) {
        boxes[blockIdx.x].low = make_float3(low[0][0], low[1][0], low[2][0]);
        boxes[blockIdx.x].high = make_float3(high[0][0], high[1][0], high[2][0]);
    }
}

__global__ void nearestSphere(const Ray* rays, const float4* spheres, int rayCount, int sphereCount, int* hit) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rayCount)
        return;
    Ray ray = rays[r];
    float nearest = CUDART_INF_F;
    int best = -1;
    for (int s = 0; s < sphereCount; ++s) {
        float4 sphere = spheres[s];
        float3 centre = make_float3(sphere.x, sphere.y, sphere.z);
        float3 to = centre - ray.origin;
        float along = dot(to, ray.direction);
        float away = dot(to, to) - along * along;
        if (along > 0 && away < sphere.w * sphere.w && along < nearest) {
            nearest = along;
            best = s;
        }
    }
    hit[r] = best;
}

__global__ void pointInPolygon(const float2* points, const float2* polygon, int pointCount, int corners, unsigned char* inside) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < pointCount) {
        float2 q = points[p];
        bool in = false;
        for (int i = 0, j = corners - 1; i < corners; j = i++) {
            float2 a = polygon[i], b = polygon[j];
            if ((a.y > q.y) != (b.y > q.y) && q.x < (b.x - a.x) * (q.y - a.y) / (b.y - a.y) + a.x)
                in = !in;
        }
        inside[p] = in;
    }
}

__global__ void voxelize(const float3* points, unsigned* occupancy, int n, int side, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int x = min(side - 1, (int)(points[i].x * scale));
        int y = min(side - 1, (int)(points[i].y * scale));
        int z = min(side - 1, (int)(points[i].z * scale));
        int cell = (z * side + y) * side + x;
        atomicOr(&occupancy[cell / 32], 1u << (cell % 32));
    }
}

void geometry(const Triangle* mesh, float3* v, const float4* p, float2* s, const float* x, Box* boxes, const Ray* rays, int* hit,
              unsigned char* inside, unsigned* cells, const float* camera) {
    cudaMemcpyToSymbol(view, camera, 16 * sizeof(float));
    normals<<<(900 + 127) / 128, 128>>>(mesh, v, 900);
    projectPoints<<<(2000 + 255) / 256, 256>>>(p, s, 2000);
    boundsOfBlocks<<<(1900 + 127) / 128, 128>>>(x, x, x, boxes, 1900);
    nearestSphere<<<(700 + 63) / 64, 64>>>(rays, p, 700, 40, hit);
    pointInPolygon<<<(1500 + 127) / 128, 128>>>(s, s + 5000, 1500, 17, inside);
    voxelize<<<(2500 + 255) / 256, 256>>>(v, cells, 2500, 16, 15.9f);
}
