/// CUB's block- and warp-wide primitives.
#pragma once

#include "cooperative_groups/scan.h"
#include "cuda_runtime_api.h"

#ifdef KERNELSKILL_EMULATION
// A collective writes its operand where all can read it; that traffic is CUB's, not the kernel's, and stays unseen.
template <class T> KS_UNSEEN void ks_place(T* cell, T value) { *cell = value; }
template <class T, class Operation> KS_UNSEEN T ks_fold_cells(const T* cells, unsigned count, const Operation& operation) {
    T result = cells[0];
    for (unsigned i = 1; i < count; ++i)
        result = operation(result, cells[i]);
    return result;
}
#endif

namespace cub {

struct Sum {
    template <class T> KS_HOST_DEVICE_MEMBER T operator()(const T& a, const T& b) const { return a + b; }
};
struct Max {
    template <class T> KS_HOST_DEVICE_MEMBER T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct Min {
    template <class T> KS_HOST_DEVICE_MEMBER T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct Equality {
    template <class T> KS_HOST_DEVICE_MEMBER bool operator()(const T& a, const T& b) const { return a == b; }
};
template <class Key, class Value> struct KeyValuePair {
    Key key;
    Value value;
};
struct ArgMax {
    template <class K, class V>
    KS_HOST_DEVICE_MEMBER KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    KS_HOST_DEVICE_MEMBER KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE
};

template <class T, int X, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
public:
    struct TempStorage {
        T cells[X * Y * Z];
    };
    KS_MEMBER BlockReduce() KS_BODY({ ks_refuse("cub::BlockReduce without storage"); })
    KS_MEMBER BlockReduce(TempStorage& storage) : storage_(&storage) {}
    /// The result is thread 0's.
    template <class Operation> KS_MEMBER T Reduce(T value, Operation operation)
        KS_BODY({ return Reduce(value, operation, X * Y * Z); })
    template <class Operation> KS_MEMBER T Reduce(T value, Operation operation, int valid) KS_BODY({
        ks_place(&storage_->cells[ks_block_rank()], value);
        ks_barrier(KsBarrierPlain, 0);
        return ks_block_rank() == 0 ? ks_fold_cells(storage_->cells, static_cast<unsigned>(valid), operation) : value;
    })
    template <int Items, class Operation> KS_MEMBER T Reduce(T (&values)[Items], Operation operation) KS_BODY({
        T total = values[0];
        for (int i = 1; i < Items; ++i)
            total = operation(total, values[i]);
        return Reduce(total, operation);
    })
    KS_MEMBER T Sum(T value) KS_BODY({ return Reduce(value, cub::Sum()); })
    KS_MEMBER T Sum(T value, int valid) KS_BODY({ return Reduce(value, cub::Sum(), valid); })
    template <int Items> KS_MEMBER T Sum(T (&values)[Items]) KS_BODY({ return Reduce(values, cub::Sum()); })

private:
    TempStorage* storage_;
};

template <class T, int X, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1> class BlockScan {
public:
    struct TempStorage {
        T cells[X * Y * Z];
    };
    KS_MEMBER BlockScan() KS_BODY({ ks_refuse("cub::BlockScan without storage"); })
    KS_MEMBER BlockScan(TempStorage& storage) : storage_(&storage) {}

    template <class Operation> KS_MEMBER void InclusiveScan(T in, T& out, Operation operation, T& aggregate) KS_BODY({
        const unsigned rank = ks_block_rank();
        ks_place(&storage_->cells[rank], in);
        ks_barrier(KsBarrierPlain, 0);
        const T mine = ks_fold_cells(storage_->cells, rank + 1, operation);
        aggregate = ks_fold_cells(storage_->cells, X * Y * Z, operation);
        ks_barrier(KsBarrierPlain, 0);
        out = mine;
    })
    template <class Operation> KS_MEMBER void InclusiveScan(T in, T& out, Operation operation) KS_BODY({
        T aggregate;
        InclusiveScan(in, out, operation, aggregate);
    })
    template <class Operation>
    KS_MEMBER void ExclusiveScan(T in, T& out, T initial, Operation operation, T& aggregate) KS_BODY({
        const unsigned rank = ks_block_rank();
        ks_place(&storage_->cells[rank], in);
        ks_barrier(KsBarrierPlain, 0);
        const T mine = rank ? operation(initial, ks_fold_cells(storage_->cells, rank, operation)) : initial;
        aggregate = ks_fold_cells(storage_->cells, X * Y * Z, operation);
        ks_barrier(KsBarrierPlain, 0);
        out = mine;
    })
    template <class Operation> KS_MEMBER void ExclusiveScan(T in, T& out, T initial, Operation operation) KS_BODY({
        T aggregate;
        ExclusiveScan(in, out, initial, operation, aggregate);
    })
    KS_MEMBER void InclusiveSum(T in, T& out) KS_BODY({ InclusiveScan(in, out, cub::Sum()); })
    KS_MEMBER void InclusiveSum(T in, T& out, T& aggregate) KS_BODY({ InclusiveScan(in, out, cub::Sum(), aggregate); })
    KS_MEMBER void ExclusiveSum(T in, T& out) KS_BODY({ ExclusiveScan(in, out, T(0), cub::Sum()); })
    KS_MEMBER void ExclusiveSum(T in, T& out, T& aggregate)
        KS_BODY({ ExclusiveScan(in, out, T(0), cub::Sum(), aggregate); })
    template <int Items> KS_MEMBER void ExclusiveSum(T (&in)[Items], T (&out)[Items]) KS_BODY({
        T aggregate;
        ExclusiveSum(in, out, aggregate);
    })
    template <int Items> KS_MEMBER void ExclusiveSum(T (&in)[Items], T (&out)[Items], T& aggregate) KS_BODY({
        T total = T(0);
        for (int i = 0; i < Items; ++i)
            total = total + in[i];
        T running;
        ExclusiveSum(total, running, aggregate);
        for (int i = 0; i < Items; ++i) {
            const T value = in[i];
            out[i] = running;
            running = running + value;
        }
    })
    template <int Items> KS_MEMBER void InclusiveSum(T (&in)[Items], T (&out)[Items]) KS_BODY({
        T total = T(0);
        for (int i = 0; i < Items; ++i)
            total = total + in[i];
        T running;
        ExclusiveSum(total, running);
        for (int i = 0; i < Items; ++i) {
            running = running + in[i];
            out[i] = running;
        }
    })

private:
    TempStorage* storage_;
};

template <class T, int Threads = 32> class WarpReduce {
public:
    struct TempStorage {
        char unused;
    };
    KS_MEMBER WarpReduce(TempStorage&) {}
    template <class Operation> KS_MEMBER T Reduce(T value, Operation operation)
        KS_BODY({ return ks_fold_lanes<T>(ks_tile_mask(Threads), value, operation); })
    KS_MEMBER T Sum(T value) KS_BODY({ return Reduce(value, cub::Sum()); })
    KS_MEMBER T Sum(T value, int valid) KS_BODY({
        return Reduce((ks_lane() & (Threads - 1u)) < static_cast<unsigned>(valid) ? value : T(0), cub::Sum());
    })
};
template <class T, int Threads = 32> class WarpScan {
public:
    struct TempStorage {
        char unused;
    };
    KS_MEMBER WarpScan(TempStorage&) {}
    KS_MEMBER void InclusiveSum(T in, T& out)
        KS_BODY({ out = ks_scan_lanes<T>(ks_tile_mask(Threads), in, cub::Sum(), true); })
    KS_MEMBER void ExclusiveSum(T in, T& out)
        KS_BODY({ out = ks_scan_lanes<T>(ks_tile_mask(Threads), in, cub::Sum(), false); })
    template <class Operation> KS_MEMBER void InclusiveScan(T in, T& out, Operation operation)
        KS_BODY({ out = ks_scan_lanes<T>(ks_tile_mask(Threads), in, operation, true); })
};

template <class T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1>
class BlockLoad {
public:
    struct TempStorage {
        char unused;
    };
    KS_MEMBER BlockLoad() {}
    KS_MEMBER BlockLoad(TempStorage&) {}
    template <class Iterator> KS_MEMBER void Load(Iterator from, T (&items)[Items]) KS_BODY({
        for (int i = 0; i < Items; ++i)
            items[i] = from[place(i)];
    })
    template <class Iterator> KS_MEMBER void Load(Iterator from, T (&items)[Items], int valid) KS_BODY({
        for (int i = 0; i < Items; ++i)
            if (place(i) < valid)
                items[i] = from[place(i)];
    })
    template <class Iterator> KS_MEMBER void Load(Iterator from, T (&items)[Items], int valid, T otherwise) KS_BODY({
        for (int i = 0; i < Items; ++i)
            items[i] = place(i) < valid ? T(from[place(i)]) : otherwise;
    })
#ifdef KERNELSKILL_EMULATION
private:
    /// Only the striped algorithm hands out items with a stride.
    static KS_MEMBER int place(int item) {
        const int rank = static_cast<int>(ks_block_rank());
        return Algorithm == BLOCK_LOAD_STRIPED ? item * (X * Y * Z) + rank : rank * Items + item;
    }
#endif
};
template <class T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1>
class BlockStore {
public:
    struct TempStorage {
        char unused;
    };
    KS_MEMBER BlockStore() {}
    KS_MEMBER BlockStore(TempStorage&) {}
    template <class Iterator> KS_MEMBER void Store(Iterator to, T (&items)[Items])
        KS_BODY({ Store(to, items, X * Y * Z * Items); })
    template <class Iterator> KS_MEMBER void Store(Iterator to, T (&items)[Items], int valid) KS_BODY({
        const int rank = static_cast<int>(ks_block_rank());
        for (int i = 0; i < Items; ++i) {
            const int place = Algorithm == BLOCK_STORE_STRIPED ? i * (X * Y * Z) + rank : rank * Items + i;
            if (place < valid)
                to[place] = items[i];
        }
    })
};

struct NullType {};
template <class Key, int X, int Items, class Value = NullType, int RadixBits = 4> class BlockRadixSort {
public:
    struct TempStorage {
        char unused;
    };
    KS_MEMBER BlockRadixSort(TempStorage&) {}
    template <class... Arguments> KS_MEMBER void Sort(Arguments&&...) KS_BODY({ ks_refuse("cub::BlockRadixSort"); })
    template <class... Arguments> KS_MEMBER void SortDescending(Arguments&&...)
        KS_BODY({ ks_refuse("cub::BlockRadixSort"); })
    template <class... Arguments> KS_MEMBER void SortBlockedToStriped(Arguments&&...)
        KS_BODY({ ks_refuse("cub::BlockRadixSort"); })
};
template <class T, int X, int Items, int Bins> class BlockHistogram {
public:
    struct TempStorage {
        char unused;
    };
    KS_MEMBER BlockHistogram(TempStorage&) {}
    template <class... Arguments> KS_MEMBER void Histogram(Arguments&&...) KS_BODY({ ks_refuse("cub::BlockHistogram"); })
    template <class... Arguments> KS_MEMBER void Composite(Arguments&&...) KS_BODY({ ks_refuse("cub::BlockHistogram"); })
};
template <class T, int X, int Items> class BlockExchange {
public:
    struct TempStorage {
        char unused;
    };
    KS_MEMBER BlockExchange(TempStorage&) {}
    template <class... Arguments> KS_MEMBER void StripedToBlocked(Arguments&&...) KS_BODY({ ks_refuse("cub::BlockExchange"); })
    template <class... Arguments> KS_MEMBER void BlockedToStriped(Arguments&&...) KS_BODY({ ks_refuse("cub::BlockExchange"); })
};

} // namespace cub
