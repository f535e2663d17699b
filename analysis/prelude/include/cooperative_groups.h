/// Cooperative groups: blocks, tiles, coalesced threads and the grid.
#pragma once
#define _COOPERATIVE_GROUPS_H_

#include "kernelskill/barriers.h"
#include "kernelskill/builtin_variables.h"
#include "kernelskill/warp.h"

#include <assert.h>

#ifdef KERNELSKILL_EMULATION
KS_INLINE unsigned ks_block_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
KS_INLINE unsigned ks_block_size() { return blockDim.x * blockDim.y * blockDim.z; }
KS_INLINE unsigned ks_lanes_below() { return (1u << ks_lane()) - 1u; }
/// The lane of the `rank`-th member of `mask`.
KS_INLINE unsigned ks_nth_lane(unsigned mask, unsigned rank) {
    for (; rank > 0 && mask; --rank)
        mask &= mask - 1;
    return mask ? static_cast<unsigned>(__builtin_ctz(mask)) : ks_lane();
}
/// Lanes of this thread's tile; the last warp of a block may be short.
KS_INLINE unsigned ks_tile_mask(unsigned size) {
    if (size >= 32)
        return 0xffffffffu;
    return ((1u << size) - 1u) << (ks_lane() & ~(size - 1u));
}
#endif

namespace cooperative_groups {

namespace details {
enum group_kind { block_kind, lanes_kind, grid_kind };
} // namespace details

/// Any group, when the code does not care which.
class thread_group {
public:
    KS_MEMBER void sync() const KS_BODY({
        if (kind_ == details::block_kind)
            ks_barrier(KsBarrierPlain, 0);
        else if (kind_ == details::grid_kind)
            ks_grid_barrier();
        else
            ks_syncwarp(mask_);
    })
    KS_MEMBER unsigned long long size() const KS_BODY({
        if (kind_ == details::block_kind)
            return ks_block_size();
        if (kind_ == details::grid_kind)
            return static_cast<unsigned long long>(ks_block_size()) * gridDim.x * gridDim.y * gridDim.z;
        return static_cast<unsigned long long>(__builtin_popcount(mask_));
    })
    KS_MEMBER unsigned long long num_threads() const KS_BODY({ return size(); })
    KS_MEMBER unsigned long long thread_rank() const KS_BODY({
        if (kind_ == details::block_kind)
            return ks_block_rank();
        if (kind_ == details::grid_kind)
            return ((static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
                    blockIdx.x) * ks_block_size() + ks_block_rank();
        return static_cast<unsigned long long>(__builtin_popcount(mask_ & ks_lanes_below()));
    })
    KS_MEMBER bool is_valid() const KS_BODY({ return true; })
    KS_MEMBER unsigned int get_type() const KS_BODY({ return kind_; })

#ifdef KERNELSKILL_EMULATION
    KS_MEMBER unsigned ks_mask() const { return mask_; }
    KS_MEMBER bool ks_is_block() const { return kind_ == details::block_kind; }
    KS_MEMBER thread_group(details::group_kind kind, unsigned mask) : kind_(kind), mask_(mask) {}

protected:
    details::group_kind kind_;
    unsigned mask_;
#endif
};

class thread_block : public thread_group {
public:
    class arrival_token {};
#ifdef KERNELSKILL_EMULATION
    KS_MEMBER thread_block() : thread_group(details::block_kind, 0) {}
#endif
    static KS_MEMBER void sync() KS_BODY({ ks_barrier(KsBarrierPlain, 0); })
    static KS_MEMBER unsigned int size() KS_BODY({ return ks_block_size(); })
    static KS_MEMBER unsigned int num_threads() KS_BODY({ return ks_block_size(); })
    static KS_MEMBER unsigned int thread_rank() KS_BODY({ return ks_block_rank(); })
    static KS_MEMBER dim3 group_index() KS_BODY({ return blockIdx; })
    static KS_MEMBER dim3 thread_index() KS_BODY({ return threadIdx; })
    static KS_MEMBER dim3 group_dim() KS_BODY({ return blockDim; })
    static KS_MEMBER dim3 dim_threads() KS_BODY({ return blockDim; })
    static KS_MEMBER void* get_scratch(unsigned int) KS_BODY({ ks_refuse("cooperative groups' scratch"); })
    /// Arriving and waiting are one barrier here: code between them runs before it.
    KS_MEMBER arrival_token barrier_arrive() const KS_BODY({ return {}; })
    KS_MEMBER void barrier_wait(arrival_token&&) const KS_BODY({ ks_barrier(KsBarrierPlain, 0); })
};

class grid_group : public thread_group {
public:
    class arrival_token {};
#ifdef KERNELSKILL_EMULATION
    KS_MEMBER grid_group() : thread_group(details::grid_kind, 0) {}
#endif
    static KS_MEMBER void sync() KS_BODY({ ks_grid_barrier(); })
    static KS_MEMBER dim3 group_dim() KS_BODY({ return gridDim; })
    static KS_MEMBER dim3 dim_blocks() KS_BODY({ return gridDim; })
    static KS_MEMBER dim3 block_index() KS_BODY({ return blockIdx; })
    static KS_MEMBER unsigned long long num_blocks()
        KS_BODY({ return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; })
    static KS_MEMBER unsigned long long block_rank() KS_BODY({
        return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    })
    static KS_MEMBER bool is_valid() KS_BODY({ return true; })
    KS_MEMBER arrival_token barrier_arrive() const KS_BODY({ return {}; })
    KS_MEMBER void barrier_wait(arrival_token&&) const KS_BODY({ ks_grid_barrier(); })
};

/// A group of blocks that share memory; the emulator runs blocks one by one and refuses what needs several.
class cluster_group : public thread_group {
public:
    class arrival_token {};
#ifdef KERNELSKILL_EMULATION
    KS_MEMBER cluster_group() : thread_group(details::grid_kind, 0) {}
#endif
    static KS_MEMBER void sync() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER arrival_token barrier_arrive() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER void barrier_wait(arrival_token&&) KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER void barrier_wait() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER unsigned int block_rank() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER unsigned int num_blocks() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER unsigned int thread_rank() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER unsigned int num_threads() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER unsigned int size() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER dim3 dim_blocks() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER dim3 block_index() KS_BODY({ ks_refuse("thread block clusters"); })
    static KS_MEMBER unsigned int query_shared_rank(const void*) KS_BODY({ ks_refuse("thread block clusters"); })
    template <class T> static KS_MEMBER T* map_shared_rank(T*, int) KS_BODY({ ks_refuse("thread block clusters"); })
};

namespace details {
/// The part that tiles and coalesced groups share: values pass by rank within `mask`.
class lanes_group : public thread_group {
public:
#ifdef KERNELSKILL_EMULATION
    explicit KS_MEMBER lanes_group(unsigned mask) : thread_group(lanes_kind, mask) {}
#endif
    KS_MEMBER void sync() const KS_BODY({ ks_syncwarp(mask_); })
    KS_MEMBER unsigned int thread_rank() const
        KS_BODY({ return static_cast<unsigned>(__builtin_popcount(mask_ & ks_lanes_below())); })
    template <class T> KS_MEMBER T shfl(T value, int rank) const
        KS_BODY({ return ks_from_lane<T>(mask_, value, ks_nth_lane(mask_, static_cast<unsigned>(rank) % ks_size())); })
    template <class T> KS_MEMBER T shfl_up(T value, unsigned int delta) const KS_BODY({
        const unsigned rank = thread_rank();
        return ks_from_lane<T>(mask_, value, rank < delta ? ks_lane() : ks_nth_lane(mask_, rank - delta));
    })
    template <class T> KS_MEMBER T shfl_down(T value, unsigned int delta) const KS_BODY({
        const unsigned rank = thread_rank();
        return ks_from_lane<T>(mask_, value, rank + delta < ks_size() ? ks_nth_lane(mask_, rank + delta) : ks_lane());
    })
    KS_MEMBER int any(int predicate) const KS_BODY({ return __any_sync(mask_, predicate); })
    KS_MEMBER int all(int predicate) const KS_BODY({ return __all_sync(mask_, predicate); })
    KS_MEMBER unsigned int ballot(int predicate) const
        KS_BODY({ return ks_packed(__ballot_sync(mask_, predicate)); })
    template <class T> KS_MEMBER unsigned int match_any(T value) const
        KS_BODY({ return ks_packed(__match_any_sync(mask_, value)); })
    template <class T> KS_MEMBER unsigned int match_all(T value, int& allSame) const
        KS_BODY({ return ks_packed(__match_all_sync(mask_, value, &allSame)); })

#ifdef KERNELSKILL_EMULATION
    KS_MEMBER unsigned ks_size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }

private:
    /// Moves the bits of a warp mask to the ranks of this group.
    KS_MEMBER unsigned ks_packed(unsigned lanes) const {
        unsigned result = 0;
        unsigned rank = 0;
        for (unsigned rest = mask_; rest; rest &= rest - 1, ++rank)
            if (lanes & rest & (0u - rest))
                result |= 1u << rank;
        return result;
    }
#endif
};
} // namespace details

class coalesced_group : public details::lanes_group {
public:
#ifdef KERNELSKILL_EMULATION
    explicit KS_MEMBER coalesced_group(unsigned mask, unsigned groupRank = 0, unsigned groups = 1)
        : lanes_group(mask), groupRank_(groupRank), groups_(groups) {}
#endif
    KS_MEMBER unsigned int size() const KS_BODY({ return ks_size(); })
    KS_MEMBER unsigned int num_threads() const KS_BODY({ return ks_size(); })
    KS_MEMBER unsigned int meta_group_rank() const KS_BODY({ return groupRank_; })
    KS_MEMBER unsigned int meta_group_size() const KS_BODY({ return groups_; })
#ifdef KERNELSKILL_EMULATION
private:
    unsigned groupRank_;
    unsigned groups_;
#endif
};

template <unsigned int Size, class Parent = void> class thread_block_tile;

template <unsigned int Size> class thread_block_tile<Size, void> : public details::lanes_group {
public:
#ifdef KERNELSKILL_EMULATION
    KS_MEMBER thread_block_tile() : lanes_group(ks_tile_mask(Size)) {
        if (Size > 32)
            ks_refuse("cooperative group tiles wider than a warp");
    }
#endif
    static KS_MEMBER constexpr unsigned int size() { return Size; }
    static KS_MEMBER constexpr unsigned int num_threads() { return Size; }
    KS_MEMBER unsigned int thread_rank() const KS_BODY({ return ks_lane() & (Size - 1u); })
    template <class T> KS_MEMBER T shfl(T value, int rank) const
        KS_BODY({ return ks_from_lane<T>(mask_, value, ks_shuffle_source(rank, Size)); })
    template <class T> KS_MEMBER T shfl_up(T value, unsigned int delta) const
        KS_BODY({ return ks_from_lane<T>(mask_, value, ks_shuffle_up_source(delta, Size)); })
    template <class T> KS_MEMBER T shfl_down(T value, unsigned int delta) const
        KS_BODY({ return ks_from_lane<T>(mask_, value, ks_shuffle_down_source(delta, Size)); })
    template <class T> KS_MEMBER T shfl_xor(T value, unsigned int laneMask) const KS_BODY({
        return ks_from_lane<T>(mask_, value, ks_shuffle_xor_source(static_cast<int>(laneMask), Size));
    })
    KS_MEMBER unsigned long long meta_group_rank() const KS_BODY({ return ks_block_rank() / Size; })
    KS_MEMBER unsigned long long meta_group_size() const
        KS_BODY({ return (ks_block_size() + Size - 1) / Size; })
};

template <unsigned int Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {};

/// Room for groups wider than a warp, which the emulator refuses.
template <unsigned int Threads> struct alignas(16) block_tile_memory {
    unsigned char bytes[Threads];
};

KS_DEVICE thread_block this_thread_block() KS_BODY({ return thread_block(); })
template <unsigned int Threads> KS_DEVICE thread_block this_thread_block(block_tile_memory<Threads>&)
    KS_BODY({ return thread_block(); })
KS_DEVICE grid_group this_grid() KS_BODY({ return grid_group(); })
KS_DEVICE cluster_group this_cluster() KS_BODY({ return cluster_group(); })
KS_DEVICE coalesced_group coalesced_threads() KS_BODY({ return coalesced_group(ks_active_mask()); })
KS_DEVICE thread_block_tile<1> this_thread() KS_BODY({ return thread_block_tile<1>(); })

template <unsigned int Size, class Parent>
KS_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) KS_BODY({
    static_cast<void>(parent);
    return thread_block_tile<Size, Parent>();
})
#ifdef KERNELSKILL_EMULATION
/// The `size` members of `mask` among which this lane is.
KS_INLINE coalesced_group ks_partition(unsigned mask, unsigned size) {
    const unsigned rank = static_cast<unsigned>(__builtin_popcount(mask & ks_lanes_below()));
    const unsigned first = rank - rank % size;
    unsigned part = 0;
    unsigned place = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1, ++place)
        if (place >= first && place < first + size)
            part |= rest & (0u - rest);
    const unsigned count = static_cast<unsigned>(__builtin_popcount(mask));
    return coalesced_group(part, first / size, (count + size - 1) / size);
}
#endif
KS_DEVICE coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size)
    KS_BODY({ return ks_partition(parent.ks_mask(), size); })
KS_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned int size)
    KS_BODY({ return ks_partition(parent.ks_is_block() ? 0xffffffffu : parent.ks_mask(), size); })

template <class Group> KS_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) KS_BODY({
    unsigned arrived = 0;
    const unsigned yes = ks_ballot(group.ks_mask(), predicate, &arrived);
    return coalesced_group(predicate ? yes : arrived & ~yes, predicate ? 1 : 0, 2);
})
template <class Group, class Label>
KS_DEVICE coalesced_group labeled_partition(const Group& group, Label label)
    KS_BODY({ return coalesced_group(__match_any_sync(group.ks_mask(), label)); })

template <class Group> KS_DEVICE void sync(const Group& group) KS_BODY({ group.sync(); })
template <class Group> KS_DEVICE unsigned int thread_rank(const Group& group)
    KS_BODY({ return static_cast<unsigned>(group.thread_rank()); })
template <class Group> KS_DEVICE unsigned int group_size(const Group& group)
    KS_BODY({ return static_cast<unsigned>(group.size()); })

template <class Group, class Function, class... Arguments>
KS_DEVICE void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) KS_BODY({
    if (group.thread_rank() == 0)
        function(static_cast<Arguments&&>(arguments)...);
})

} // namespace cooperative_groups
