/// Names of the metrics in a Profile. A metric has Nsight Compute's name if Nsight Compute has the
/// same quantity; else its name begins with `kernelskill__`. Executors and diagnosis both use these
/// names.
#pragma once

namespace kernelskill::engine::metric {

/// The metrics of loads, or of stores.
struct AccessNames {
    const char* word; ///< For sentences.
    const char* globalRequests;
    const char* globalSectors;
    const char* globalBytes; ///< Bytes that the lanes asked for.
    const char* uniqueBytes; ///< Bytes of distinct sectors: the minimum that memory has to move.
    const char* sharedRequests;
    const char* sharedWavefronts;
    const char* sharedConflicts;
    const char* sectorsPerRequest;
    const char* bytesPerSector; ///< The percentage of a sector's bytes that were asked for.
    const char* movedBytes;     ///< Bytes of all sectors of all requests.
    const char* reuse;          ///< Bytes that the lanes asked for, per byte of distinct sectors.
    /// The emulator's count for the same launch, beside a measured sectorsPerRequest.
    const char* countedSectorsPerRequest;
};
inline constexpr AccessNames load{
    "load",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "kernelskill__global_unique_bytes_ld.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum",
    "kernelskill__global_reuse_ld.ratio",
    "kernelskill__counted_sectors_per_request_ld.ratio",
};
inline constexpr AccessNames store{
    "store",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_data_bytes_mem_global_op_st.sum",
    "kernelskill__global_unique_bytes_st.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum",
    "kernelskill__global_reuse_st.ratio",
    "kernelskill__counted_sectors_per_request_st.ratio",
};
inline constexpr const AccessNames* accesses[] = {&load, &store};

inline constexpr const char* globalAtomicRequests = "smsp__inst_executed_op_global_atom.sum";
inline constexpr const char* globalAtomicSectors =
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum";
inline constexpr const char* sharedAtomicRequests = "smsp__inst_executed_op_shared_atom.sum";
/// The maximum number of lanes of a request on one address, summed over requests: how often lanes
/// take turns.
inline constexpr const char* atomicSerializations = "kernelskill__atomic_serializations.sum";
inline constexpr const char* atomicLanes = "kernelskill__atomic_lanes.sum";
/// Turns per request. It is 1 if no two lanes of a warp update the same address.
inline constexpr const char* atomicContention = "kernelskill__atomic_rounds_per_request.ratio";

inline constexpr const char* branchTargets = "smsp__sass_branch_targets.sum";
inline constexpr const char* divergentBranchTargets =
    "smsp__sass_branch_targets_threads_divergent.sum";
inline constexpr const char* uniformBranchPercent =
    "smsp__sass_average_branch_targets_threads_uniform.pct";
inline constexpr const char* activeThreads = "smsp__thread_inst_executed_per_inst_executed.ratio";

/// Arithmetic instructions, counted per thread. A multiplication whose product is added counts with
/// the addition as one fused instruction. An instruction on a pair of halves counts once.
struct OperationNames {
    const char* word; ///< "float", "double", "half"
    const char* add;
    const char* multiply;
    const char* fused;
};
inline constexpr OperationNames single{"float",
                                       "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                                       "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
                                       "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};
inline constexpr OperationNames dbl{"double", "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
                                    "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
                                    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"};
inline constexpr OperationNames half{"half", "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
                                     "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
                                     "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"};
inline constexpr const char* conversions =
    "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum";
/// Operations on halves. A fused instruction on a pair counts as four.
inline constexpr const char* halfOperations = "kernelskill__half_operations.sum";
/// Operations on floats, doubles and halves; a fused one counts as two. It is 0 if the kernel has
/// none, and absent if they were not counted.
inline constexpr const char* floatingOperations = "kernelskill__floating_point_operations.sum";
/// Calls of mathematical functions whose arithmetic is not counted.
inline constexpr const char* uncountedCalls = "kernelskill__uncounted_function_calls.sum";
/// Floating-point operations per byte of distinct sectors, the minimum that DRAM moves; and per
/// byte of all sectors requested from L1.
inline constexpr const char* operationsPerUniqueByte =
    "kernelskill__operations_per_unique_byte.ratio";
inline constexpr const char* operationsPerSectorByte =
    "kernelskill__operations_per_sector_byte.ratio";

/// Accesses to local memory: spilled registers, and arrays that the compiler could not keep in
/// registers. Known if measured on a GPU, or if the compiler uses no local memory.
inline constexpr const char* localLoads = "smsp__inst_executed_op_local_ld.sum";
inline constexpr const char* localStores = "smsp__inst_executed_op_local_st.sum";
inline constexpr const char* localLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
inline constexpr const char* localStoreSectors = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum";

/// Barriers that blocks passed, counted once per block.
inline constexpr const char* barriers = "kernelskill__barriers.sum";
inline constexpr const char* warpOperations = "kernelskill__warp_operations.sum";

/// The median time of a launch on a GPU, in nanoseconds, with the L2 cache swept before.
inline constexpr const char* medianTime = "kernelskill__time_median.ns";
/// Program-counter samples on a line, whatever the warp waited for.
inline constexpr const char* stallSamples = "kernelskill__stall_samples.sum";
/// The percentage of all samples of the kernel: the share of its warps' time that the line takes.
inline constexpr const char* stallPercent = "kernelskill__stall_samples.pct";

} // namespace kernelskill::engine::metric
