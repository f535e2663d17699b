#include "engine/diagnosis/signals.h"

namespace kernelskill::engine {

std::vector<std::string_view> signalNames(SignalBasis basis) {
    switch (basis) {
    case SignalBasis::Static:
        return {"static_sector_overfetch",
                "static_bank_conflict_degree",
                "atomics_on_uniform_address",
                "static_accesses_per_barrier",
                "static_intensity_over_balance",
                "contraction_over_two_axes",
                "dependent_load_in_loop",
                "thread_dependent_branch_in_loop",
                "ragged_row_walk",
                "indirect_access",
                "linear_search",
                "atomics_on_data_address",
                "lock_loop",
                "interleaved_lanes",
                "data_dependent_rounds",
                "invariant_function_call",
                "grid_barrier_in_loop",
                "repeated_launch_over_machine",
                "static_record_overfetch"};
    case SignalBasis::Compiler:
        return {"spilled_bytes_per_thread"};
    case SignalBasis::Profile:
        return {"sector_overfetch",         "traffic_percent",
                "local_traffic_percent",    "wavefronts_over_minimum",
                "atomic_lanes_per_address", "requests_per_barrier",
                "divergent_branch_percent", "dependent_loads_per_thread",
                "resident_warps_percent",   "blocks_per_multiprocessor",
                "threads_of_block",         "contraction_over_balance",
                "intensity_over_balance",   "uncached_intensity_over_balance",
                "branches_over_memory",     "operations_percent",
                "launch_over_kernel_time",  "repeated_launches"};
    case SignalBasis::Measured:
        break;
    }
    return {
        "dram_percent",         "l2_percent",     "l1_percent",           "sm_percent",
        "active_warps_percent", "memory_percent", "memory_stall_percent", "barrier_stall_percent",
        "microseconds"};
}

} // namespace kernelskill::engine
