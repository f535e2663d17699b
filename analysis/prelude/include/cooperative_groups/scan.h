/// cooperative_groups::inclusive_scan and exclusive_scan.
#pragma once
#define _COOPERATIVE_GROUPS_SCAN_H

#include "cooperative_groups/reduce.h"

#ifdef KERNELSKILL_EMULATION
/// Combines the values of the lanes of `mask` up to this one (`inclusive`) or before it. The first lane of an
/// exclusive scan gets T().
template <class T, class Operation>
KS_UNSEEN T ks_scan(const T* all, unsigned arrived, unsigned end, const Operation& operation) {
    T result = T();
    bool first = true;
    for (unsigned lane = 0; lane < end; ++lane) {
        if (!(arrived >> lane & 1u))
            continue;
        result = first ? all[lane] : static_cast<T>(operation(result, all[lane]));
        first = false;
    }
    return result;
}
template <class T, class Operation>
KS_INLINE T ks_scan_lanes(unsigned mask, T value, const Operation& operation, bool inclusive) {
    T all[32];
    const unsigned arrived = ks_from_all_lanes(mask, value, all);
    return ks_scan(all, arrived, ks_lane() + (inclusive ? 1 : 0), operation);
}
#endif

namespace cooperative_groups {

template <class Group, class T, class Operation>
KS_DEVICE T inclusive_scan(const Group& group, T value, Operation&& operation)
    KS_BODY({ return ks_scan_lanes<T>(group.ks_mask(), value, operation, true); })
template <class Group, class T> KS_DEVICE T inclusive_scan(const Group& group, T value)
    KS_BODY({ return ks_scan_lanes<T>(group.ks_mask(), value, plus<T>(), true); })
template <class Group, class T, class Operation>
KS_DEVICE T exclusive_scan(const Group& group, T value, Operation&& operation)
    KS_BODY({ return ks_scan_lanes<T>(group.ks_mask(), value, operation, false); })
template <class Group, class T> KS_DEVICE T exclusive_scan(const Group& group, T value)
    KS_BODY({ return ks_scan_lanes<T>(group.ks_mask(), value, plus<T>(), false); })

} // namespace cooperative_groups
