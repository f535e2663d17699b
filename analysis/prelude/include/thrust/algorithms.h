/// Thrust's algorithms, as the host calls them: declared, not run.
#pragma once

#include "thrust/containers.h"
#include "thrust/functional.h"

namespace thrust {

template <class Self> struct execution_policy {
    template <class T> Self on(T) const { return static_cast<const Self&>(*this); }
};
struct host_policy : execution_policy<host_policy> {};
struct device_policy : execution_policy<device_policy> {
    template <class T> device_policy operator()(T&) const { return *this; }
};
static const host_policy host __attribute__((unused)) = {};
static const device_policy device __attribute__((unused)) = {};
static const host_policy seq __attribute__((unused)) = {};
namespace cuda {
static const device_policy par __attribute__((unused)) = {};
static const device_policy par_nosync __attribute__((unused)) = {};
} // namespace cuda
namespace omp {
static const host_policy par __attribute__((unused)) = {};
} // namespace omp

#ifdef KERNELSKILL_EMULATION
#define KS_ALGORITHM_BODY                                                                          \
    { ks_refuse("Thrust algorithms"); }
#else
#define KS_ALGORITHM_BODY ;
#endif
// Each algorithm with and without an execution policy in front. `Result` may speak of the first iterator type, It.
#define KS_ALGORITHM(name, Result)                                                                 \
    template <class It, class... Arguments,                                                        \
              class = std::enable_if_t<!std::is_base_of<execution_policy<It>, It>::value>>         \
    __host__ __device__ Result name(It, Arguments...) KS_ALGORITHM_BODY                            \
    template <class Self, class It, class... Arguments>                                            \
    __host__ __device__ Result name(const execution_policy<Self>&, It, Arguments...) KS_ALGORITHM_BODY
#define KS_VALUE typename std::iterator_traits<It>::value_type
#define KS_DIFFERENCE typename std::iterator_traits<It>::difference_type
KS_ALGORITHM(fill, void)
KS_ALGORITHM(fill_n, It)
KS_ALGORITHM(sequence, void)
KS_ALGORITHM(generate, void)
KS_ALGORITHM(tabulate, void)
KS_ALGORITHM(for_each, It)
KS_ALGORITHM(for_each_n, It)
KS_ALGORITHM(sort, void)
KS_ALGORITHM(stable_sort, void)
KS_ALGORITHM(sort_by_key, void)
KS_ALGORITHM(stable_sort_by_key, void)
KS_ALGORITHM(reverse, void)
KS_ALGORITHM(replace, void)
KS_ALGORITHM(replace_if, void)
KS_ALGORITHM(gather_if, void)
KS_ALGORITHM(scatter, void)
KS_ALGORITHM(scatter_if, void)
KS_ALGORITHM(unique, It)
KS_ALGORITHM(remove, It)
KS_ALGORITHM(remove_if, It)
KS_ALGORITHM(partition, It)
KS_ALGORITHM(stable_partition, It)
KS_ALGORITHM(max_element, It)
KS_ALGORITHM(min_element, It)
KS_ALGORITHM(find, It)
KS_ALGORITHM(find_if, It)
KS_ALGORITHM(count, KS_DIFFERENCE)
KS_ALGORITHM(count_if, KS_DIFFERENCE)
KS_ALGORITHM(all_of, bool)
KS_ALGORITHM(any_of, bool)
KS_ALGORITHM(none_of, bool)
KS_ALGORITHM(equal, bool)
KS_ALGORITHM(is_sorted, bool)
KS_ALGORITHM(binary_search, bool)
#undef KS_ALGORITHM

// The result's type is that of a later argument.
#define KS_ALGORITHM(name, Result)                                                                 \
    template <class It, class... Ts, class = std::enable_if_t<!std::is_base_of<execution_policy<It>, It>::value>> \
    __host__ __device__ Result name(It, Ts...) KS_ALGORITHM_BODY                  \
    template <class Self, class It, class... Ts>                                                   \
    __host__ __device__ Result name(const execution_policy<Self>&, It, Ts...) KS_ALGORITHM_BODY
template <std::size_t I, class... Ts> using nth = std::tuple_element_t<I, std::tuple<Ts...>>;
#define KS_NTH(I) nth<I, Ts...>
KS_ALGORITHM(copy, KS_NTH(1))
KS_ALGORITHM(copy_n, KS_NTH(1))
KS_ALGORITHM(copy_if, KS_NTH(1))
KS_ALGORITHM(inclusive_scan, KS_NTH(1))
KS_ALGORITHM(exclusive_scan, KS_NTH(1))
KS_ALGORITHM(inclusive_scan_by_key, KS_NTH(2))
KS_ALGORITHM(exclusive_scan_by_key, KS_NTH(2))
KS_ALGORITHM(transform_inclusive_scan, KS_NTH(1))
KS_ALGORITHM(transform_exclusive_scan, KS_NTH(1))
KS_ALGORITHM(adjacent_difference, KS_NTH(1))
KS_ALGORITHM(gather, KS_NTH(2))
KS_ALGORITHM(unique_copy, KS_NTH(1))
KS_ALGORITHM(transform_reduce, KS_NTH(2))
KS_ALGORITHM(inner_product, KS_NTH(2))
KS_ALGORITHM(swap_ranges, KS_NTH(1))
#undef KS_ALGORITHM

#define KS_POLICED(templates, result, name, ...)                                                   \
    template <templates> __host__ __device__ result name(__VA_ARGS__) KS_ALGORITHM_BODY            \
    template <class Self, templates> __host__ __device__ result name(const execution_policy<Self>&, __VA_ARGS__) KS_ALGORITHM_BODY
#define KS_TYPES(...) __VA_ARGS__
KS_POLICED(KS_TYPES(class It), KS_VALUE, reduce, It, It)
KS_POLICED(KS_TYPES(class It, class T), T, reduce, It, It, T)
KS_POLICED(KS_TYPES(class It, class T, class F), T, reduce, It, It, T, F)
KS_POLICED(KS_TYPES(class It, class Out, class F), Out, transform, It, It, Out, F)
KS_POLICED(KS_TYPES(class It, class B, class Out, class F), Out, transform, It, It, B, Out, F)
KS_POLICED(KS_TYPES(class It, class Out, class F, class P), Out, transform_if, It, It, Out, F, P)
KS_POLICED(KS_TYPES(class It, class V, class T), It, lower_bound, It, V, T)
KS_POLICED(KS_TYPES(class It, class V, class T), It, upper_bound, It, V, T)
KS_POLICED(KS_TYPES(class It, class V, class W, class Out), Out, lower_bound, It, It, V, W, Out)
KS_POLICED(KS_TYPES(class It, class V, class W, class Out), Out, upper_bound, It, It, V, W, Out)
KS_POLICED(KS_TYPES(class It, class V, class KO, class VO), KS_TYPES(pair<KO, VO>), reduce_by_key, It, It, V, KO, VO)
KS_POLICED(KS_TYPES(class It, class V, class KO, class VO, class E), KS_TYPES(pair<KO, VO>), reduce_by_key, It, It, V, KO, VO, E)
KS_POLICED(KS_TYPES(class It, class V, class KO, class VO, class E, class F), KS_TYPES(pair<KO, VO>), reduce_by_key, It, It, V, KO, VO, E, F)
KS_POLICED(KS_TYPES(class It, class V), KS_TYPES(pair<It, V>), unique_by_key, It, It, V)
KS_POLICED(KS_TYPES(class It), KS_TYPES(pair<It, It>), minmax_element, It, It)
KS_POLICED(KS_TYPES(class It, class B, class Out), Out, merge, It, It, B, B, Out)
KS_POLICED(KS_TYPES(class It, class B, class Out), Out, set_intersection, It, It, B, B, Out)
#undef KS_POLICED
#undef KS_TYPES
#undef KS_VALUE
#undef KS_DIFFERENCE
#undef KS_NTH
#undef KS_ALGORITHM_BODY

template <class T> device_ptr<T> device_malloc(std::size_t count) {
    T* raw = nullptr;
    cudaMalloc(&raw, count * sizeof(T));
    return device_ptr<T>(raw);
}
template <class T> void device_free(device_ptr<T> pointer) { cudaFree(pointer.get()); }
template <class It> __host__ __device__ std::ptrdiff_t distance(It first, It last) { return last - first; }

} // namespace thrust
