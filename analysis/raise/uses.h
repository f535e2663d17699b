/// Finds the steps that write and read each buffer of a program, and which steps depend on which.
#pragma once

#include "analysis/raise/program.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace kernelskill::analysis::raise {

/// A store of a computation.
struct StorePlace {
    std::size_t step = 0;
    std::size_t store = 0;
};

class Uses {
public:
    explicit Uses(const Program& program);

    /// The only store that writes the buffer; nullopt if there is none, several, or a library's.
    [[nodiscard]] std::optional<StorePlace> writer(BufferId buffer) const;
    /// The steps that read it, in their order.
    [[nodiscard]] const std::vector<std::size_t>& readers(BufferId buffer) const {
        return readers_.at(buffer);
    }
    /// Whether all reads are plain loads of computations: none by a library, and none where an
    /// integer is read that says a place.
    [[nodiscard]] bool isReadPlainly(BufferId buffer) const { return isPlain_.at(buffer); }
    /// Whether the step needs what `on` computes, or is that step.
    [[nodiscard]] bool depends(std::size_t step, std::size_t on) const;
    /// Whether what the buffer holds needs what the step computes.
    [[nodiscard]] bool bufferDepends(BufferId buffer, std::size_t on) const;
    [[nodiscard]] const std::vector<BufferId>& readBy(std::size_t step) const {
        return reads_.at(step);
    }
    [[nodiscard]] const std::vector<BufferId>& writtenBy(std::size_t step) const {
        return writes_.at(step);
    }

private:
    std::vector<std::vector<StorePlace>>
        stores_; ///< The stores to each buffer, those of libraries included.
    std::vector<std::vector<std::size_t>> readers_;
    std::vector<bool> isPlain_;
    std::vector<std::vector<BufferId>> reads_; ///< The buffers that each step reads.
    std::vector<std::vector<BufferId>> writes_;
    std::vector<std::vector<bool>> needs_; ///< needs_[a][b]: step a needs step b.
};

/// The buffers that a step reads, and those that it writes.
[[nodiscard]] std::set<BufferId> readsOf(const Step& step);
[[nodiscard]] std::set<BufferId> writesOf(const Step& step);

/// Calls `visit` for each buffer that a scalar reads, with whether the integer read says a place.
void forEachRead(const Scalar& value,
                 const std::function<void(BufferId buffer, bool saysPlace)>& visit);

} // namespace kernelskill::analysis::raise
