/// The runs of a review: the same problem for the original and for the candidate, at several sizes.
#pragma once

#include "engine/capture/capture_store.h"
#include "engine/execution/job.h"
#include "engine/execution/profile.h"
#include "engine/inputs/launch_inference.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// One problem size.
struct Trial {
    std::string label; ///< "n=1023"
    LaunchSpec original;
    LaunchSpec candidate;
    int seeds = 1; ///< Fresh inputs to run it with.
    /// A captured launch of a program, whose results are known.
    bool isReplay = false;
    /// A run that only looks for a difference. It says nothing where the original does not run
    /// cleanly, since nothing in the program states such a launch.
    bool isProbe = false;
    /// Pointers are equal that the original need not be made for. Then the run says nothing where
    /// the original shows any hazard, a suspected one too.
    bool hasEqualPointers = false;
    /// Its values round too coarsely to compare results, except for infinities and NaN.
    bool onlyFiniteness = false;
    /// If set, so many blocks of the grid run, corners included, and only what they wrote is
    /// compared.
    std::optional<std::uint64_t> maxBlocks = {};
    /// The first blocks of a launch whose size cannot be changed.
    bool isCorner = false;
};

/// Whether both run the same instances of the two kernels.
[[nodiscard]] bool runsSameInstances(const Trial& one, const Trial& other);

struct TrialPlan {
    std::vector<Trial>
        trials; ///< The launch as the file has it (or a smaller one of its shape) first.
    /// The launches of the first trial at the file's own size.
    LaunchSpec statedOriginal;
    LaunchSpec statedCandidate;
    /// Variables of the file to compare like buffers.
    std::vector<SymbolSpec> variables;
    std::vector<std::string> notes; ///< Trials that could not be made, and why.
};

/// The numbers of threads that trials have.
struct TrialThreads {
    /// The max threads of a launch that is run as it is.
    double maxAsIs = 1 << 18;
    /// Threads of a launch that is made smaller: enough for many blocks, few enough for a dozen
    /// runs within seconds.
    double comfortable = 1 << 16;
};

/// Launches of both at the file's own size and at odd ones. The candidate's grid and scalars come
/// from its own launch site, which the edit may have changed; its buffers are the original's. The
/// first captured launch of each instance is one more trial. Unsupported when the kernel cannot be
/// launched.
[[nodiscard]] Result<TrialPlan> planTrials(KernelInFile original, KernelInFile candidate,
                                           const StoredCaptures& captures = {},
                                           const TrialThreads& threads = {});

/// The one launch to measure both on: a pinned one, else a captured one, else the file's own at its
/// size; where it is guessed, one that is large enough to fill a GPU. Errors as planTrials().
[[nodiscard]] Result<Trial> planMeasurement(KernelInFile original, KernelInFile candidate,
                                            const StoredCaptures& captures = {});

/// `launch`; where it is guessed, one that is large enough to fill a GPU. `text` is of the
/// subject's file, and read from it if null.
[[nodiscard]] LaunchSpec measurableLaunch(KernelInFile subject, const LaunchSpec& launch,
                                          std::shared_ptr<const LaunchSource> text = nullptr);

/// `candidate` on buffers of exactly the extents that the original touched, or of those that it
/// only reads what an allocation seems to have: one element more is out of bounds.
[[nodiscard]] LaunchSpec withExtents(LaunchSpec candidate,
                                     const std::vector<BufferExtent>& extents);

} // namespace kernelskill::engine
