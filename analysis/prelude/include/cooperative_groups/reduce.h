/// cooperative_groups::reduce and its operators.
#pragma once
#define _COOPERATIVE_GROUPS_REDUCE_H

#include "cooperative_groups.h"

namespace cooperative_groups {

#define KS_OPERATOR(name, expression)                                                              \
    template <class T = void> struct name {                                                        \
        KS_HOST_DEVICE_MEMBER T operator()(T a, T b) const { return expression; }                  \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class T> KS_HOST_DEVICE_MEMBER T operator()(T a, T b) const {                    \
            return expression;                                                                     \
        }                                                                                          \
    };
KS_OPERATOR(plus, a + b)
KS_OPERATOR(less, b < a ? b : a)
KS_OPERATOR(greater, a < b ? b : a)
KS_OPERATOR(bit_and, a& b)
KS_OPERATOR(bit_or, a | b)
KS_OPERATOR(bit_xor, a ^ b)
#undef KS_OPERATOR

template <class Group, class T, class Operation>
KS_DEVICE T reduce(const Group& group, T value, Operation&& operation)
    KS_BODY({ return ks_fold_lanes<T>(group.ks_mask(), value, operation); })

template <class Group, class Atomic, class T, class Operation>
KS_DEVICE void reduce_update_async(const Group& group, Atomic& target, T value, Operation&& operation) KS_BODY({
    const T total = ks_fold_lanes<T>(group.ks_mask(), value, operation);
    if (group.thread_rank() == 0) {
        T expected = target.load();
        while (!target.compare_exchange_weak(expected, operation(expected, total))) {
        }
    }
})
template <class Group, class Atomic, class T, class Operation>
KS_DEVICE void reduce_store_async(const Group& group, Atomic& target, T value, Operation&& operation) KS_BODY({
    const T total = ks_fold_lanes<T>(group.ks_mask(), value, operation);
    if (group.thread_rank() == 0)
        target.store(total);
})

} // namespace cooperative_groups
