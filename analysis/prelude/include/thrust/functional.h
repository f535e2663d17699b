/// Thrust's function objects and placeholders.
#pragma once

#include "kernelskill/language.h"

namespace thrust {

#define KS_FUNCTOR2(name, expression)                                                              \
    template <class T = void> struct name {                                                        \
        __host__ __device__ constexpr auto operator()(const T& a, const T& b) const { return expression; } \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class A, class B> __host__ __device__ constexpr auto operator()(const A& a, const B& b) const { \
            return expression;                                                                     \
        }                                                                                          \
    };
KS_FUNCTOR2(plus, a + b)
KS_FUNCTOR2(minus, a - b)
KS_FUNCTOR2(multiplies, a* b)
KS_FUNCTOR2(divides, a / b)
KS_FUNCTOR2(modulus, a % b)
KS_FUNCTOR2(maximum, a < b ? b : a)
KS_FUNCTOR2(minimum, b < a ? b : a)
KS_FUNCTOR2(less, a < b)
KS_FUNCTOR2(less_equal, a <= b)
KS_FUNCTOR2(greater, a > b)
KS_FUNCTOR2(greater_equal, a >= b)
KS_FUNCTOR2(equal_to, a == b)
KS_FUNCTOR2(not_equal_to, a != b)
KS_FUNCTOR2(logical_and, a&& b)
KS_FUNCTOR2(logical_or, a || b)
KS_FUNCTOR2(bit_and, a& b)
KS_FUNCTOR2(bit_or, a | b)
KS_FUNCTOR2(bit_xor, a ^ b)
#undef KS_FUNCTOR2
#define KS_FUNCTOR1(name, expression)                                                              \
    template <class T = void> struct name {                                                        \
        __host__ __device__ constexpr auto operator()(const T& a) const { return expression; }     \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class A> __host__ __device__ constexpr auto operator()(const A& a) const { return expression; } \
    };
KS_FUNCTOR1(identity, a)
KS_FUNCTOR1(negate, -a)
KS_FUNCTOR1(square, a* a)
KS_FUNCTOR1(logical_not, !a)
#undef KS_FUNCTOR1
template <class A, class B, class Result> struct binary_function {
    using first_argument_type = A;
    using second_argument_type = B;
    using result_type = Result;
};
template <class A, class Result> struct unary_function {
    using argument_type = A;
    using result_type = Result;
};

namespace placeholders {
/// An expression of _1 and _2, called with their values.
template <class Function> struct expression {
    Function function;
    template <class... T> __host__ __device__ constexpr auto operator()(const T&... values) const {
        return function(values...);
    }
};
template <class Function> __host__ __device__ constexpr expression<Function> make(Function function) {
    return expression<Function>{function};
}
struct pick_first {
    template <class A, class... T> __host__ __device__ constexpr A operator()(const A& a, const T&...) const { return a; }
};
struct pick_second {
    template <class A, class B> __host__ __device__ constexpr B operator()(const A&, const B& b) const { return b; }
};
constexpr expression<pick_first> _1{};
constexpr expression<pick_second> _2{};
template <class E, class... T> __host__ __device__ constexpr auto value_of(const expression<E>& e, const T&... values) {
    return e(values...);
}
template <class V, class... T> __host__ __device__ constexpr const V& value_of(const V& v, const T&...) { return v; }
#define KS_PLACEHOLDER(op)                                                                         \
    template <class E, class R> __host__ __device__ constexpr auto operator op(const expression<E>& l, const R& r) { \
        return make([l, r](const auto&... v) { return value_of(l, v...) op value_of(r, v...); });  \
    }                                                                                              \
    template <class L, class E> __host__ __device__ constexpr auto operator op(const L& l, const expression<E>& r) { \
        return make([l, r](const auto&... v) { return l op r(v...); });                            \
    }                                                                                              \
    template <class E, class F>                                                                    \
    __host__ __device__ constexpr auto operator op(const expression<E>& l, const expression<F>& r) { \
        return make([l, r](const auto&... v) { return l(v...) op r(v...); });                      \
    }
KS_PLACEHOLDER(+)
KS_PLACEHOLDER(-)
KS_PLACEHOLDER(*)
KS_PLACEHOLDER(/)
KS_PLACEHOLDER(%)
KS_PLACEHOLDER(<)
KS_PLACEHOLDER(>)
KS_PLACEHOLDER(<=)
KS_PLACEHOLDER(>=)
KS_PLACEHOLDER(==)
KS_PLACEHOLDER(!=)
KS_PLACEHOLDER(&&)
KS_PLACEHOLDER(||)
#undef KS_PLACEHOLDER
} // namespace placeholders

} // namespace thrust
