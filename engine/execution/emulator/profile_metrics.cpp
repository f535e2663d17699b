#include "engine/execution/emulator/profile_metrics.h"

#include <string>

namespace kernelskill::engine::emulator {

namespace {

struct NamedCounter {
    Counter counter;
    const char* name;
};

constexpr NamedCounter sums[] = {
    {Counter::GlobalLoadRequests, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {Counter::GlobalLoadSectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {Counter::GlobalLoadBytes, "smsp__sass_data_bytes_mem_global_op_ld.sum"},
    {Counter::GlobalStoreRequests, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {Counter::GlobalStoreSectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
    {Counter::GlobalStoreBytes, "smsp__sass_data_bytes_mem_global_op_st.sum"},
    {Counter::GlobalAtomicRequests, "smsp__inst_executed_op_global_atom.sum"},
    {Counter::GlobalAtomicSectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"},
    {Counter::SharedAtomicRequests, "smsp__inst_executed_op_shared_atom.sum"},
    {Counter::AtomicSerializations, "kernelskill__atomic_serializations.sum"},
    {Counter::AtomicLanes, "kernelskill__atomic_lanes.sum"},
    {Counter::SharedLoadRequests, "smsp__inst_executed_op_shared_ld.sum"},
    {Counter::SharedLoadWavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
    {Counter::SharedLoadConflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
    {Counter::SharedStoreRequests, "smsp__inst_executed_op_shared_st.sum"},
    {Counter::SharedStoreWavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
    {Counter::SharedStoreConflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
    {Counter::BranchTargets, "smsp__sass_branch_targets.sum"},
    {Counter::BranchTargetsDivergent, "smsp__sass_branch_targets_threads_divergent.sum"},
    {Counter::Barriers, "kernelskill__barriers.sum"},
    {Counter::WarpOperations, "kernelskill__warp_operations.sum"},
    {Counter::UniqueBytesLoaded, "kernelskill__global_unique_bytes_ld.sum"},
    {Counter::UniqueBytesStored, "kernelskill__global_unique_bytes_st.sum"},
};

constexpr double bytesPerSector = 32;
constexpr double percent = 100;

/// Where the denominator is zero the ratio says nothing.
void addRatio(Metrics& metrics, const char* name, double numerator, double denominator) {
    if (denominator != 0)
        metrics[name] = numerator / denominator;
}

} // namespace

Metrics namedMetrics(const Counters& counters) {
    Metrics metrics;
    // A load that conflicts nowhere says so: its zero is news.
    const bool loadsShared = counters[Counter::SharedLoadRequests] != 0;
    const bool storesShared = counters[Counter::SharedStoreRequests] != 0;
    const bool branches = counters[Counter::BranchTargets] != 0;
    for (const NamedCounter& sum : sums) {
        const bool isNews = (sum.counter == Counter::SharedLoadConflicts && loadsShared) ||
                            (sum.counter == Counter::SharedStoreConflicts && storesShared) ||
                            (sum.counter == Counter::BranchTargetsDivergent && branches);
        if (counters[sum.counter] != 0 || isNews)
            metrics[sum.name] = static_cast<double>(counters[sum.counter]);
    }
    const auto value = [&](Counter counter) { return static_cast<double>(counters[counter]); };
    addRatio(metrics, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
             value(Counter::GlobalLoadSectors), value(Counter::GlobalLoadRequests));
    addRatio(metrics, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
             value(Counter::GlobalStoreSectors), value(Counter::GlobalStoreRequests));
    addRatio(metrics, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
             percent * value(Counter::GlobalLoadBytes),
             bytesPerSector * value(Counter::GlobalLoadSectors));
    addRatio(metrics, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
             percent * value(Counter::GlobalStoreBytes),
             bytesPerSector * value(Counter::GlobalStoreSectors));
    addRatio(metrics, "smsp__thread_inst_executed_per_inst_executed.ratio",
             value(Counter::ThreadEvents), value(Counter::WarpEvents));
    addRatio(metrics, "smsp__sass_average_branch_targets_threads_uniform.pct",
             percent * (value(Counter::BranchTargets) - value(Counter::BranchTargetsDivergent)),
             value(Counter::BranchTargets));
    return metrics;
}

} // namespace kernelskill::engine::emulator
