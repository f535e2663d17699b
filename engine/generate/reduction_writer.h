/// Writes the kernels of a nest with reductions.
#pragma once

#include "analysis/queries/source_layout.h"
#include "engine/generate/kernel_writer.h"
#include "engine/generate/nest_text.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {

/// Writes device functions that fold one value per thread over a block, each one once.
class BlockFolds {
public:
    /// For the reductions of `parallel`.
    BlockFolds(const analysis::FunctionBody& body, const ParallelFunction& parallel,
               const analysis::SourceLayout& layout, std::string indentation, DerivedNames& names);

    /// The name of the function for `reduction`.
    [[nodiscard]] std::string of(const Reduction& reduction);
    /// The definitions of all functions.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    using Kind = std::pair<Fold, std::string>; ///< With the type.
    [[nodiscard]] Kind kindOf(const Reduction& reduction) const;

    const analysis::FunctionBody& body_;
    const analysis::SourceLayout& layout_;
    std::string indentation_;
    DerivedNames& names_;
    std::set<Kind> repeated_; ///< A kernel needs these more than once.
    std::map<Kind, std::string> written_;
    std::string text_;
};

/// "sum" or "max", for use in names.
[[nodiscard]] std::string nameOf(Fold fold);

/// Writes the text and parts of `kernel`, which has its names already. Writes totalText if it is
/// empty; the second kernel of another nest may serve.
void writeReduction(const NestText& nest, const analysis::KernelModel& function,
                    const ParallelNest& parallel, const DerivedNames& names, BlockFolds& folds,
                    const std::string& indentation, WrittenKernel& kernel);

} // namespace kernelskill::engine
