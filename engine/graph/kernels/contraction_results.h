/// The end of a contraction's kernel: what becomes of a block's results.
#pragma once

#include "engine/graph/kernels/contraction_fetch.h"
#include "engine/graph/kernels/contraction_multiply.h"
#include "engine/graph/kernels/cuda_text.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// Writes the text that takes the block's results through shared memory and stores what the
/// computation makes of them.
class ResultWriter {
public:
    /// All outlive the object.
    ResultWriter(CudaText& text, const Contraction& contraction, const ContractionTile& tile,
                 const FactorSide& left, const FactorSide& right)
        : text_(text), contraction_(contraction), tile_(tile), left_(left), right_(right) {}

    /// The sums and `memory` have to be declared. New names are not among `taken`.
    void write(CodeLines& lines, std::set<std::string>& taken) const;
    [[nodiscard]] ResultLayout layout() const;

private:
    [[nodiscard]] const std::vector<analysis::raise::Store>& stores() const {
        return contraction_.computation.stores;
    }
    [[nodiscard]] analysis::raise::Index offsetOf(const analysis::raise::Store& store) const;
    /// Whether neighbours in memory of what is stored are rows.
    [[nodiscard]] bool storesRows() const;
    /// Whether every store writes four neighbours at multiples of 16 bytes.
    [[nodiscard]] bool storesFour() const;
    /// How many elements of the last outer axis lie between two neighbours of the inner one.
    [[nodiscard]] int elementsBetween(const FactorSide& inner, const FactorSide& outer) const;
    /// The text of the stores, where `sum` is the text of the contraction's sum.
    [[nodiscard]] CudaText::Values storedValues(const std::string& sum) const;
    void writeSingles(CodeLines& lines, const FactorSide& inner, const FactorSide& outer) const;
    /// Stores four neighbours at a time.
    void writeFours(CodeLines& lines, const FactorSide& inner, const FactorSide& outer) const;
    /// The loop over the rows or columns that a thread stores; those of the inner side are taken
    /// apart here.
    void openLoop(CodeLines& lines, const FactorSide& side, const std::string& first,
                  int stride) const;

    CudaText& text_;
    const Contraction& contraction_;
    const ContractionTile& tile_;
    const FactorSide& left_;
    const FactorSide& right_;
};

} // namespace kernelskill::engine::graph
