/// Whether an edited program leaves the same in its buffers on the GPU as the original.
#pragma once

#include "engine/final_memory/final_memory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Floating-point numbers may differ by this part of the larger one, or of the root mean square of
/// those around them, since edits may sum in another order.
inline constexpr double finalMemoryTolerance = 1e-3;

/// The original's buffers, over several of its runs.
class ComparedBuffers {
public:
    /// Buffers that are not the same after all runs are not compared, nor are those whose contents
    /// were not recorded. The first run's files have to stay. Failed if files cannot be read.
    [[nodiscard]] static Result<ComparedBuffers> of(FinalMemory first, const FinalMemory& second);
    /// Adds another run of the original: what is not the same after it is not compared any more.
    [[nodiscard]] Result<void> add(const FinalMemory& another);

    [[nodiscard]] std::size_t count() const { return compared_.size(); }
    [[nodiscard]] std::uint64_t bytes() const;
    /// "of 5 buffers on the GPU 3 are compared: 1 not the same after two runs of the original, 1
    /// not recorded (at most 1024 MiB are recorded)"; empty if all are.
    [[nodiscard]] std::string note() const;

    /// "the buffer of 4096 bytes that 'scale' gets as parameter 2: 12 of 1024 float32 differ, the
    /// first at 7: 1.5 instead of 1.25"; nullopt if nothing differs. An edited program that
    /// allocates other sizes is compared in the buffers of those sizes of which it has as many.
    /// Failed if the files cannot be read.
    [[nodiscard]] Result<std::optional<std::string>> differenceTo(const FinalMemory& edited) const;

private:
    explicit ComparedBuffers(FinalMemory first) : first_(std::move(first)) {}

    FinalMemory first_;
    std::vector<std::size_t> compared_; ///< Indices of buffers.
    std::size_t unstable_ = 0;          ///< Buffers that differ between the runs.
    std::size_t unrecorded_ = 0;
    std::string whyUnrecorded_; ///< The reason of one of these.
};

} // namespace kernelskill::engine
