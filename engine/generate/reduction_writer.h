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

/// Device functions that fold one value of each thread over a block, each written once.
class BlockFolds {
public:
    /// For the reductions of `parallel`.
    BlockFolds(const analysis::FunctionBody& body, const ParallelFunction& parallel,
               const analysis::SourceLayout& layout, std::string indentation, DerivedNames& names);

    /// The name of the one for `reduction`.
    [[nodiscard]] std::string of(const Reduction& reduction);
    /// Their definitions.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    using Kind = std::pair<Fold, std::string>; ///< With the type.
    [[nodiscard]] Kind kindOf(const Reduction& reduction) const;

    const analysis::FunctionBody& body_;
    const analysis::SourceLayout& layout_;
    std::string indentation_;
    DerivedNames& names_;
    std::set<Kind> repeated_; ///< Needed more than once by a kernel.
    std::map<Kind, std::string> written_;
    std::string text_;
};

/// "sum", "max": as part of a name.
[[nodiscard]] std::string nameOf(Fold fold);

/// Fills in text and parts of `kernel`, which has its names, and totalText where it is empty: a
/// kernel of another nest may do for it.
void writeReduction(const NestText& nest, const analysis::KernelModel& function,
                    const ParallelNest& parallel, const DerivedNames& names, BlockFolds& folds,
                    const std::string& indentation, WrittenKernel& kernel);

} // namespace kernelskill::engine
