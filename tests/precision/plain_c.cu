/* Written as C was: declarations first, tabs, underscores, everything explicit. */
#include <cuda_runtime.h>

typedef struct vec_params
{
	unsigned int	count;
	float		scale;
	int		stride;
} vec_params_t;

extern "C" __global__ void vec_scale_strided(float *data, vec_params_t params)
{
	unsigned int	idx;

	idx = blockDim.x * blockIdx.x + threadIdx.x;
	if (idx < params.count)
	{
		data[idx * params.stride] = data[idx * params.stride] * params.scale;
	}
}

extern "C" __global__ void vec_max_abs(const float *in, float *out, int n, int chunk)
{
	int	t;
	int	i;
	int	begin;
	float	best;

	t = blockDim.x * blockIdx.x + threadIdx.x;
	begin = t * chunk;
	best = 0.0f;
	for (i = 0; i < chunk; i++)
	{
		if (begin + i < n)
		{
			float v = fabsf(in[begin + i]);
			if (v > best)
				best = v;
		}
	}
	if (begin < n)
		out[t] = best;
}

static __global__ void mat_add_column(float *m, float const *const column, int const rows, int const cols)
{
	int	row;
	int	col;

	row = threadIdx.x + blockIdx.x * blockDim.x;
	if (row >= rows)
		return;
	for (col = 0; col < cols; col++)
		m[row * cols + col] += column[row];
}

__global__ void	prefix_small(int *values, int n)
{
	int	i;
	int	offset;
	int	add;
	__shared__ int	line[256];

	i = threadIdx.x;
	line[i] = i < n ? values[i] : 0;
	__syncthreads();
	for (offset = 1; offset < 256; offset <<= 1)
	{
		add = i >= offset ? line[i - offset] : 0;
		__syncthreads();
		line[i] += add;
		__syncthreads();
	}
	if (i < n)
		values[i] = line[i];
}

__global__ void text_to_upper(char *text, unsigned long length)
{
	unsigned long	i;

	i = (unsigned long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < length && text[i] >= 'a' && text[i] <= 'z')
		text[i] = text[i] - 'a' + 'A';
}

__global__ void poly_eval(float *y, const float *x, int n)
{
	int	i;

	for (i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		y[i] = ((((0.1f * x[i] + 0.2f) * x[i] + 0.3f) * x[i] + 0.4f) * x[i] + 0.5f) * x[i] + 0.6f;
}

void run_all(float *a, float *b, int *v, char *text)
{
	vec_params_t	params;
	dim3		grid;
	dim3		block;

	params.count = 1000;
	params.scale = 0.5f;
	params.stride = 3;
	vec_scale_strided<<<8, 128>>>(a, params);
	vec_max_abs<<<5, 64>>>(a, b, 5000, 16);
	block.x = 64;
	grid.x = (500 + 63) / 64;
	mat_add_column<<<grid, block>>>(a, b, 500, 40);
	prefix_small<<<1, 256>>>(v, 200);
	text_to_upper<<<40, 256>>>(text, 10000ul);
	poly_eval<<<12, 256>>>(b, a, 9000);
}
