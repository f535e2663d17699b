#include "engine/generate/reduction_writer.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/code_lines.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

namespace {

std::string_view nounOf(Fold fold) {
    switch (fold) {
    case Fold::Sum:
        return "sum";
    case Fold::Minimum:
        return "min";
    case Fold::Maximum:
        return "max";
    case Fold::Xor:
        return "xor";
    }
    return "";
}

std::string_view phraseOf(Fold fold) {
    switch (fold) {
    case Fold::Minimum:
        return "least";
    case Fold::Maximum:
        return "greatest";
    default:
        return nounOf(fold);
    }
}

std::string folded(Fold fold, std::string_view into, std::string_view value) {
    if (fold == Fold::Minimum || fold == Fold::Maximum)
        return fmt::format("{0} = {1}({0}, {2});", into, nounOf(fold), value);
    return fmt::format("{} {}= {};", into, fold == Fold::Sum ? "+" : "^", value);
}

void addWarpFold(CodeLines& lines, Fold fold) {
    lines.open("for (int offset = 16; offset > 0; offset /= 2)")
        .add(folded(fold, "value", "__shfl_down_sync(0xffffffffu, value, offset)"))
        .leave();
}

/// `sum`, `sum and squares`.
std::string listOf(const FunctionBody& body, const std::vector<Reduction>& reductions) {
    std::string list;
    for (const Reduction& reduction : reductions)
        list += (list.empty()                       ? ""
                 : &reduction == &reductions.back() ? " and "
                                                    : ", ") +
                body.variable(reduction.variable).name;
    return list;
}

class ReductionText {
public:
    ReductionText(const NestText& nest, const KernelModel& function, const ParallelNest& parallel,
                  BlockFolds& folds, const std::string& indentation, WrittenKernel& kernel)
        : nest_(nest), body_(function.body), parallel_(parallel), folds_(folds),
          indentation_(indentation), kernel_(kernel) {}

    void writeParts() {
        CodeLines lines(nest_.layout(), indentation_);
        lines.add(fmt::format("// Each block's part of {}.", listOf(body_, parallel_.reductions)));
        std::string parameters = nest_.parameters();
        for (const Reduction& reduction : parallel_.reductions)
            if (!reduction.startsNeutral)
                append(parameters, typeOf(reduction) + " " + nameOf(reduction));
        for (std::size_t number = 0; number < parallel_.reductions.size(); ++number)
            append(parameters, fmt::format("{}* {}", typeOf(parallel_.reductions[number]),
                                           kernel_.parts[number]));
        lines.open(fmt::format("__global__ void {}({}) {{", kernel_.name, parameters));
        for (const Reduction& reduction : parallel_.reductions)
            addStart(lines, reduction);
        nest_.addLeadingText(lines);
        if (parallel_.loops.size() == 1) {
            const std::string stride = analysis::freshName(body_, "stride");
            lines.add(fmt::format("const unsigned int {} = gridDim.x * blockDim.x;", stride));
            nest_.openStrided(lines, parallel_.loops[0], "blockIdx.x * blockDim.x + threadIdx.x",
                              stride);
        } else {
            nest_.openStrided(lines, parallel_.loops[0], "blockIdx.x", "gridDim.x");
            nest_.openStrided(lines, parallel_.loops[1], "threadIdx.x", "blockDim.x");
        }
        nest_.addBody(lines, false);
        for (std::size_t open = 0; open < parallel_.loops.size(); ++open)
            lines.close();
        std::vector<std::string> values;
        for (const Reduction& reduction : parallel_.reductions)
            values.push_back(nameOf(reduction));
        addEnd(lines, values, kernel_.parts, "blockIdx.x");
        kernel_.text = lines.text();
    }

    /// A single reduction has general names in that kernel, because several nests may share it.
    void writeTotal() {
        const bool isOne = parallel_.reductions.size() == 1;
        std::vector<std::string> values;
        std::vector<std::string> parts;
        for (std::size_t number = 0; number < parallel_.reductions.size(); ++number) {
            values.push_back(isOne ? "value" : nameOf(parallel_.reductions[number]));
            parts.push_back(isOne ? "parts" : kernel_.parts[number]);
        }
        CodeLines lines(nest_.layout(), indentation_);
        std::string totals;
        for (const std::string& array : parts)
            totals += (totals.empty()            ? ""
                       : &array == &parts.back() ? "[0] and "
                                                 : "[0], ") +
                      array;
        lines.add(
            fmt::format("// Brings the blocks' parts together in {}[0]. For one block.", totals));
        const std::string count = isOne ? "blocks" : analysis::freshName(body_, "blocks");
        const std::string part = isOne ? "part" : analysis::freshName(body_, "part");
        std::string parameters = "unsigned int " + count;
        for (std::size_t number = 0; number < parts.size(); ++number)
            append(parameters,
                   fmt::format("{}* {}", typeOf(parallel_.reductions[number]), parts[number]));
        lines.open(fmt::format("__global__ void {}({}) {{", kernel_.totalName, parameters));
        for (std::size_t number = 0; number < parts.size(); ++number) {
            const Reduction& reduction = parallel_.reductions[number];
            lines.add(fmt::format("{} {} = {};", typeOf(reduction), values[number],
                                  isIdempotent(reduction.fold) ? parts[number] + "[0]" : "0"));
        }
        lines.open(fmt::format("for (unsigned int {0} = threadIdx.x; {0} < {1}; {0} += "
                               "blockDim.x){2}",
                               part, count, isOne ? "" : " {"));
        for (std::size_t number = 0; number < parts.size(); ++number)
            lines.add(folded(parallel_.reductions[number].fold, values[number],
                             fmt::format("{}[{}]", parts[number], part)));
        if (isOne)
            lines.leave();
        else
            lines.close();
        addEnd(lines, values, parts, "0");
        kernel_.totalText = lines.text();
    }

private:
    [[nodiscard]] const std::string& nameOf(const Reduction& reduction) const {
        return body_.variable(reduction.variable).name;
    }
    [[nodiscard]] std::string typeOf(const Reduction& reduction) const {
        return numberType(body_.variable(reduction.variable).type);
    }
    static void append(std::string& list, const std::string& item) {
        list += (list.empty() ? "" : ", ") + item;
    }

    /// A variable that is a parameter keeps its start value if that may be folded in again.
    void addStart(CodeLines& lines, const Reduction& reduction) const {
        if (reduction.startsNeutral)
            lines.add(fmt::format("{} {} = {};", typeOf(reduction), nameOf(reduction), "0"));
        else if (!isIdempotent(reduction.fold))
            lines.open("if (blockIdx.x > 0 || threadIdx.x > 0)")
                .add(fmt::format("{} = {}; // what it was counts once", nameOf(reduction), "0"))
                .leave();
    }

    void addEnd(CodeLines& lines, const std::vector<std::string>& values,
                const std::vector<std::string>& parts, const std::string& element) {
        for (std::size_t number = 0; number < values.size(); ++number)
            lines.add(fmt::format("{0} = {1}({0});", values[number],
                                  folds_.of(parallel_.reductions[number])));
        const bool isOne = values.size() == 1;
        lines.open(isOne ? "if (threadIdx.x == 0)" : "if (threadIdx.x == 0) {");
        for (std::size_t number = 0; number < values.size(); ++number)
            lines.add(fmt::format("{}[{}] = {};", parts[number], element, values[number]));
        if (isOne)
            lines.leave();
        else
            lines.close();
        lines.close();
    }

    const NestText& nest_;
    const FunctionBody& body_;
    const ParallelNest& parallel_;
    BlockFolds& folds_;
    const std::string& indentation_;
    WrittenKernel& kernel_;
};

} // namespace

std::string nameOf(Fold fold) {
    return std::string(nounOf(fold));
}

BlockFolds::BlockFolds(const FunctionBody& body, const ParallelFunction& parallel,
                       const analysis::SourceLayout& layout, std::string indentation,
                       DerivedNames& names)
    : body_(body), layout_(layout), indentation_(std::move(indentation)), names_(names) {
    for (const ParallelNest& nest : parallel.nests) {
        std::set<Kind> seen;
        for (const Reduction& reduction : nest.reductions)
            if (!seen.insert(kindOf(reduction)).second)
                repeated_.insert(kindOf(reduction));
    }
}

BlockFolds::Kind BlockFolds::kindOf(const Reduction& reduction) const {
    return {reduction.fold, numberType(body_.variable(reduction.variable).type)};
}

std::string BlockFolds::of(const Reduction& reduction) {
    const Kind kind = kindOf(reduction);
    const std::string& type = kind.second;
    std::string& name = written_[kind];
    if (!name.empty())
        return name;
    name = names_.next({"block", std::string(nounOf(reduction.fold))});
    CodeLines lines(layout_, indentation_);
    lines.add(fmt::format("// The {} of value over a block of whole warps, for its thread 0.",
                          phraseOf(reduction.fold)));
    lines.open(fmt::format("__device__ {0} {1}({0} value) {{", type, name));
    lines.add(fmt::format("__shared__ {} warps[32];", type));
    addWarpFold(lines, reduction.fold);
    if (repeated_.contains(kind))
        lines.add("__syncthreads(); // warps may still be read for the call before");
    lines.open("if (threadIdx.x % 32 == 0)").add("warps[threadIdx.x / 32] = value;").leave();
    lines.add("__syncthreads();");
    lines.open("if (threadIdx.x < 32) {");
    lines.add(
        isIdempotent(reduction.fold)
            ? std::string("value = warps[threadIdx.x < blockDim.x / 32 ? threadIdx.x : 0];")
            : fmt::format("value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : {};", "0"));
    addWarpFold(lines, reduction.fold);
    lines.close();
    lines.add("return value;");
    lines.close();
    text_ += (text_.empty() ? "" : layout_.newline()) + lines.text();
    return name;
}

void writeReduction(const NestText& nest, const KernelModel& function, const ParallelNest& parallel,
                    const DerivedNames& names, BlockFolds& folds, const std::string& indentation,
                    WrittenKernel& kernel) {
    for (const Reduction& reduction : parallel.reductions)
        kernel.parts.push_back(analysis::freshName(
            function.body, names.joined(function.body.variable(reduction.variable).name, "parts")));
    ReductionText text(nest, function, parallel, folds, indentation, kernel);
    text.writeParts();
    if (kernel.totalText.empty())
        text.writeTotal();
}

} // namespace kernelskill::engine
