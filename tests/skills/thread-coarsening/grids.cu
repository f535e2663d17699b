// Work on points of a grid and on their neighbours, in the ways in which it is written.
#include <cuda_runtime.h>

#define WEIGHT float
#define CELL(a, r, c) a[(r)*pitch + (c)]

constexpr int side = 16;

// Early return on both ends, nothing said of aliasing.
__global__ void relax(float* now, float* next, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    next[y * width + x] = 0.25f * (now[y * width + x - 1] + now[y * width + x + 1] + now[(y - 1) * width + x] + now[(y + 1) * width + x]);
}

// Coefficients in locals, a compound condition, the row named i.
__global__ void weigh(int rows, int columns, WEIGHT* from, WEIGHT* to)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;

	WEIGHT k0, k1, k2;
	k0 = -0.5; k1 = +1.25; k2 = -0.75;

	if ((i < (rows-1)) && (j < (columns-1)) && (i > 0) && (j > 0))
	{
		to[i * columns + j] = k0 * from[(i - 1) * columns + (j - 1)] + k1 * from[(i + 0) * columns + (j + 0)] + k2 * from[(i + 1) * columns + (j + 1)]
			+ k0 * from[(i - 1) * columns + (j + 0)] + k2 * from[(i + 1) * columns + (j + 0)];
	}
}

// One plane of a volume after the other, by as many launches.
__global__ void plane(const double* volume, double* sums, int nx, int ny, int nz, int z) {
    const size_t x = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t y = (size_t)blockIdx.y * blockDim.y + threadIdx.y;
    const size_t at = ((size_t)z * ny + y) * nx + x;
    if (z > 0 && z < nz - 1 && x < nx && y + 1 < ny)
        sums[at] = volume[at] + volume[at + nx] + volume[at - (size_t)nx * ny] + volume[at - (size_t)nx * ny + nx] +
                   volume[at + (size_t)nx * ny] * 0.5;
}

// The first row is another formula's; each thread updates its own element.
__global__ void driven(float* source, float* field, float* flux, int nx, int ny, int step) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < nx) && (j < ny)) {
        if (i == 0) {
            field[i * ny + j] = source[step];
        } else {
            field[i * ny + j] = field[i * ny + j] - 0.5f * (flux[i * ny + j] - flux[(i - 1) * ny + j]);
        }
    }
}

// Several results; two checks one behind the other.
__global__ void gradient(float* __restrict__ gx, float* __restrict__ gy, const float* __restrict__ u, unsigned int w, unsigned int h) {
    auto x = blockIdx.x * blockDim.x + threadIdx.x;
    auto y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x + 1 >= w) return;
    if (y + 1 >= h) return; // the last row has none
    auto here = y * w + x;
    gx[here] = u[here + 1] - u[here];
    gy[here] = u[here + w] - u[here];
}

// Clamped at the edges; declared at the top and set below.
__global__ void diffuse(float* t, float* out, float* power, int columns, int rows, float rate) {
    int north, south;
    float delta;
    const int c = threadIdx.x + blockDim.x * blockIdx.x;
    const int r = threadIdx.y + blockDim.y * blockIdx.y;
    north = max(r - 1, 0);
    south = r == rows - 1 ? r : r + 1;
    if (c < columns) {
        if (r < rows) {
            delta = t[north * columns + c] + t[south * columns + c] - 2.0f * t[r * columns + c];
            if (power[r * columns + c] > 0.5f)
                delta += power[r * columns + c];
            out[r * columns + c] = t[r * columns + c] + rate * delta;
        }
    }
}

// By macros, with a border that the index skips.
__global__ void smooth(int rows, int pitch, float* in, float* out) {
    int c = blockIdx.x * side + threadIdx.x + 1;
    int r = blockIdx.y * side + threadIdx.y + 1;
    if (r < rows - 1 && c < pitch - 1)
        CELL(out, r, c) = 0.5f * CELL(in, r, c) + 0.125f * (CELL(in, r - 1, c) + CELL(in, r + 1, c) + CELL(in, r, c - 1) + CELL(in, r, c + 1));
}

// A row a block; a result that is written twice.
__global__ void carry(float* a, float* b, int n, int m) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= n || y >= m - 2) return;
    float sum = a[y * n + x] + a[(y + 1) * n + x];
    sum += a[(y + 2) * n + x];
    b[y * n + x] = sum;
    if (sum > 1.0f)
        b[y * n + x] = 1.0f;
}

// March through a column of planes.
__global__ void march(const float* __restrict__ now, float* __restrict__ next, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i > nx - 2 || j == 0 || j > ny - 2)
        return;
    for (int k = 1; k < nz - 1; ++k) {
        const int at = (k * ny + j) * nx + i;
        next[at] = now[at - nx] + now[at + nx] + now[at - nx * ny] + now[at] * 3.0f;
    }
}

// The border is copied.
__global__ void bordered(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[y * w + x] = in[y * w + x];
    } else {
        out[y * w + x] = 0.25f * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
    }
}

void relaxed(float* a, float* b, int w, int h) {
    dim3 block(32, 4), grid((w + 31) / 32, (h + 3) / 4);
    relax<<<grid, block>>>(a, b, w, h);
    relax<<<grid, block>>>(b, a, w, h);
    weigh<<<dim3((w + 31) / 32, (h + 3) / 4), block>>>(h, w, a, b);
    driven<<<grid, block>>>(a, b, b + w * h, h, w, 0);
    diffuse<<<grid, block>>>(a, b, b + w * h, w, h, 0.1f);
    smooth<<<dim3((w + side - 1) / side, (h + side - 1) / side), dim3(side, side)>>>(h, w, a, b);
    bordered<<<grid, block>>>(a, b, w, h);
    carry<<<dim3((w + 127) / 128, h), 128>>>(a, b, w, h);
}

void gradients(float* gx, float* gy, const float* u, int w, int h) {
    const dim3 block(16, 16);
    const dim3 grid((size_t)ceil((float)w / block.x), (size_t)ceil((float)h / block.y));
    gradient<<<grid, block>>>(gx, gy, u, w, h);
}

void planes(const double* v, double* s, const float* now, float* next, int nx, int ny, int nz) {
    dim3 block(32, 8), grid((nx + 31) / 32, (ny + 7) / 8, 1);
    for (int z = 1; z < nz - 1; ++z)
        plane<<<grid, block>>>(v, s, nx, ny, nz, z);
    march<<<grid, block>>>(now, next, nx, ny, nz);
}
