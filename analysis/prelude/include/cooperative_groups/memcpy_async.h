/// cooperative_groups::memcpy_async: here a copy by the group's threads, complete after wait().
#pragma once
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC

#include "cooperative_groups.h"

#ifdef KERNELSKILL_EMULATION
/// Each thread of the group moves every size-th chunk, as the hardware's 16-, 8- or 4-byte copies do.
template <class Chunk, class Group>
KS_INLINE void ks_group_copy_chunks(const Group& group, void* to, const void* from, size_t bytes) {
    typedef Chunk __attribute__((may_alias)) Cell;
    Cell* target = static_cast<Cell*>(to);
    const Cell* source = static_cast<const Cell*>(from);
    const size_t count = bytes / sizeof(Chunk);
    for (size_t i = group.thread_rank(); i < count; i += group.size())
        target[i] = source[i];
}
template <class Group>
KS_INLINE void ks_group_copy(const Group& group, void* to, const void* from, size_t bytes) {
    const size_t alignment = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
    if (alignment % 16 == 0)
        ks_group_copy_chunks<unsigned __int128>(group, to, from, bytes);
    else if (alignment % 8 == 0)
        ks_group_copy_chunks<unsigned long long>(group, to, from, bytes);
    else if (alignment % 4 == 0)
        ks_group_copy_chunks<unsigned>(group, to, from, bytes);
    else
        ks_group_copy_chunks<unsigned char>(group, to, from, bytes);
}
#endif

namespace cooperative_groups {

template <class Group, class Size>
KS_DEVICE void memcpy_async(const Group& group, void* to, const void* from, Size bytes)
    KS_BODY({ ks_group_copy(group, to, from, static_cast<size_t>(bytes)); })
template <class Group, class T, class ToLayout, class FromLayout>
KS_DEVICE void memcpy_async(const Group& group, T* to, ToLayout toCount, const T* from, FromLayout fromCount)
    KS_BODY({
        const size_t first = static_cast<size_t>(toCount);
        const size_t second = static_cast<size_t>(fromCount);
        ks_group_copy(group, to, from, (first < second ? first : second) * sizeof(T));
    })
template <class Group> KS_DEVICE void wait(const Group& group) KS_BODY({ group.sync(); })
template <unsigned int Stages, class Group> KS_DEVICE void wait_prior(const Group& group)
    KS_BODY({ group.sync(); })

} // namespace cooperative_groups
