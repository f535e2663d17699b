/// nvcuda::wmma: matrix fragments of a warp.
///
/// Emulated with each lane holding an equal share of the tile in row-major order. Which element a lane holds is
/// unspecified in CUDA too; kernels that treat all fragments of a shape alike, as they must, agree.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "kernelskill/barriers.h"

#ifdef KERNELSKILL_EMULATION
template <class T> KS_INLINE float ks_widened(T value) { return static_cast<float>(value); }
#endif

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
/// A float of which the product keeps ten bits of mantissa.
struct tf32 {};
} // namespace precision

namespace details {
template <class T> struct stored {
    using type = T;
};
template <> struct stored<precision::tf32> {
    using type = float;
};
template <class Use, int m, int n, int k> struct shape;
template <int m, int n, int k> struct shape<matrix_a, m, n, k> {
    static constexpr int rows = m, columns = k;
};
template <int m, int n, int k> struct shape<matrix_b, m, n, k> {
    static constexpr int rows = k, columns = n;
};
template <int m, int n, int k> struct shape<accumulator, m, n, k> {
    static constexpr int rows = m, columns = n;
};
template <class Layout> struct is_column_major {
    static constexpr bool value = false;
};
template <> struct is_column_major<col_major> {
    static constexpr bool value = true;
};
} // namespace details

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment {
public:
    using element_type = typename details::stored<T>::type;
    using storage_element_type = element_type;
    using ks_shape = details::shape<Use, m, n, k>;
    static constexpr int num_elements = ks_shape::rows * ks_shape::columns / 32;
    static constexpr int num_storage_elements = num_elements;
    element_type x[num_elements];
};

template <class Use, int m, int n, int k, class T, class Layout, class V>
KS_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout>& tile, const V& value) KS_BODY({
    for (auto& element : tile.x)
        element = value;
})

#ifdef KERNELSKILL_EMULATION
/// Where the lane's `i`-th element lies in memory.
template <class Fragment> KS_INLINE unsigned ks_place_in_tile(int i, unsigned stride, bool columnMajor) {
    const unsigned index = static_cast<unsigned>(i) * 32 + ks_lane();
    const unsigned row = index / Fragment::ks_shape::columns;
    const unsigned column = index % Fragment::ks_shape::columns;
    return columnMajor ? column * stride + row : row * stride + column;
}
#endif

template <class Use, int m, int n, int k, class T, class Layout, class Memory>
KS_DEVICE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& tile, const Memory* memory, unsigned stride)
    KS_BODY({
        using Tile = fragment<Use, m, n, k, T, Layout>;
        ks_syncwarp(0xffffffffu);
        for (int i = 0; i < Tile::num_elements; ++i)
            tile.x[i] = memory[ks_place_in_tile<Tile>(i, stride, details::is_column_major<Layout>::value)];
    })
template <int m, int n, int k, class T, class Memory>
KS_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T>& tile, const Memory* memory, unsigned stride,
                                layout_t layout) KS_BODY({
    using Tile = fragment<accumulator, m, n, k, T>;
    ks_syncwarp(0xffffffffu);
    for (int i = 0; i < Tile::num_elements; ++i)
        tile.x[i] = memory[ks_place_in_tile<Tile>(i, stride, layout == mem_col_major)];
})
template <int m, int n, int k, class T, class Memory>
KS_DEVICE void store_matrix_sync(Memory* memory, const fragment<accumulator, m, n, k, T>& tile, unsigned stride,
                                 layout_t layout) KS_BODY({
    using Tile = fragment<accumulator, m, n, k, T>;
    for (int i = 0; i < Tile::num_elements; ++i)
        memory[ks_place_in_tile<Tile>(i, stride, layout == mem_col_major)] = tile.x[i];
    ks_syncwarp(0xffffffffu);
})

#ifdef KERNELSKILL_EMULATION
/// All elements of a tile, gathered from the lanes that hold them.
template <class Fragment> KS_INLINE void ks_gather_tile(const Fragment& tile, float* whole) {
    for (int i = 0; i < Fragment::num_elements; ++i) {
        float lanes[32];
        ks_from_all_lanes<float>(0xffffffffu, ks_widened(tile.x[i]), lanes);
        __builtin_memcpy(whole + i * 32, lanes, sizeof lanes);
    }
}
template <int columns, int depth>
KS_UNSEEN float ks_tile_product(const float* a, const float* b, unsigned index, float sum) {
    const unsigned row = index / columns;
    const unsigned column = index % columns;
    for (int i = 0; i < depth; ++i)
        sum += a[row * depth + i] * b[i * columns + column];
    return sum;
}
#endif

template <int m, int n, int k, class A, class ALayout, class B, class BLayout, class D, class C>
KS_DEVICE void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, A, ALayout>& a,
                        const fragment<matrix_b, m, n, k, B, BLayout>& b, const fragment<accumulator, m, n, k, C>& c)
    KS_BODY({
        float left[m * k];
        float right[k * n];
        ks_gather_tile(a, left);
        ks_gather_tile(b, right);
        for (int i = 0; i < fragment<accumulator, m, n, k, D>::num_elements; ++i)
            d.x[i] = static_cast<D>(ks_tile_product<n, k>(left, right, static_cast<unsigned>(i) * 32 + ks_lane(),
                                                          ks_widened(c.x[i])));
    })

KS_DEVICE float __float_to_tf32(float value) KS_BODY({
    const unsigned bits = ks_bit_cast<unsigned>(value);
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return value;
    return ks_bit_cast<float>((bits + 0x1000u) & ~0x1fffu);
})

} // namespace wmma
namespace experimental {}
} // namespace nvcuda
