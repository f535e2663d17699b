/// The text of a contraction's kernel that brings tiles of a factor into shared memory.
#pragma once

#include "engine/graph/kernels/contraction_multiply.h"
#include "engine/graph/kernels/contraction_schedule.h"
#include "engine/graph/kernels/cuda_text.h"
#include "engine/graph/kernels/kernel_draft.h"

#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// One of the two factors of a contraction, and the words that its part of the text is written in.
struct FactorSide {
    std::string name;    ///< "left"
    std::string title;   ///< "Left"
    std::string outer;   ///< "row"
    std::string capital; ///< "Row"
    std::vector<analysis::raise::Axis> axes;
    int tile = 0; ///< Rows or columns of a block's tile.
    FactorAccess access;
    TileLayout layout = TileLayout::DepthByOuter;

    /// Whether elements go to shared memory without passing through registers.
    [[nodiscard]] bool isAsync() const;
};

class FactorFetch {
public:
    /// The text's names are bound for batches and the depth. All outlive the object.
    FactorFetch(CudaText& text, const ContractionTile& tile, const DepthOrder& depth,
                FactorSide side)
        : text_(text), tile_(tile), depth_(depth), side_(std::move(side)) {}

    /// Declares `fetchLeft(step, tile)`, which starts the copies of a step, or, for a factor that
    /// passes through registers, `fetchLeft(step)` and `storeLeft(tile)`. New names are not among
    /// `taken`.
    void write(CodeLines& lines, std::set<std::string>& taken);
    [[nodiscard]] const FactorSide& side() const { return side_; }

private:
    /// The accesses by which a thread loads its part: `slots`, a `stride` apart in the depth, or in
    /// the rows or columns, whichever does not hold the neighbours in memory.
    struct Share {
        int perLine = 1; ///< Threads that load a line of neighbours.
        int stride = 1;
        int slots = 1;
        bool isPartial = false; ///< Some threads load nothing.
    };
    struct Conditions {
        std::string ofStep; ///< Empty: always.
        std::string ofSlot;
    };

    [[nodiscard]] Share shareOf() const;
    [[nodiscard]] std::string outerName() const { return side_.name + side_.capital; }
    [[nodiscard]] std::string depthName() const { return side_.name + "Depth"; }
    [[nodiscard]] std::string numberName() const { return side_.name + "Number"; }
    /// The distance between slots, in elements of the buffer, if it is a constant and no guard
    /// tells them apart.
    [[nodiscard]] std::optional<std::int64_t> slotStride(const Share& share) const;
    void bindReads(std::set<std::string>& taken);
    void declareOuter(CodeLines& lines, const std::string& number);
    void declareStep(CodeLines& lines);
    void declareDepth(CodeLines& lines, const std::string& number);
    void declareSlot(CodeLines& lines, const Share& share) const;
    void openSlots(CodeLines& lines, const Share& share) const;
    [[nodiscard]] std::string outerCondition(const std::string& number) const;
    [[nodiscard]] std::string depthCondition(const std::string& number);
    [[nodiscard]] std::string guardCondition(CodeLines& lines);
    void writeLinear(CodeLines& lines, const Share& share, std::int64_t stride);
    void writeEach(CodeLines& lines, const Share& share);
    void writeLoad(CodeLines& lines, bool isAlways);
    void writeCopy(CodeLines& lines, const std::string& source, const std::string& condition);
    void writeStore(CodeLines& lines, const Share& share);
    [[nodiscard]] std::string place(const std::string& depth) const;
    [[nodiscard]] std::string bufferName() const;

    CudaText& text_;
    const ContractionTile& tile_;
    const DepthOrder& depth_;
    FactorSide side_;
};

} // namespace kernelskill::engine::graph
