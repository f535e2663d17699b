#include "engine/generate/reference_program.h"

#include "analysis/queries/code_map.h"
#include "engine/generate/nest_text.h"
#include "engine/generate/reference_launch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

class CheckWriter {
public:
    CheckWriter(const FileModel& file, const KernelModel& function,
                const ParallelFunction& parallel, const ParallelNest& nest,
                const WrittenKernel& kernel, DerivedNames& names)
        : source_(*file.source), function_(function), body_(function.body), parallel_(parallel),
          nest_(nest), kernel_(kernel), text_(file, function, parallel, nest) {
        checked_ = {kernel.name, kernel.grid, kernel.block, text_.inputs(), {}};
        if (nest.reductions.empty())
            return;
        checked_.name = names.next({"check"});
        for (const Reduction& reduction : nest.reductions)
            checked_.results.push_back(
                analysis::freshName(body_, body_.variable(reduction.variable).name + "_result"));
        const std::int64_t reach = checkedReach(nest);
        checked_.grid = fmt::format(
            "({} + {}) / {}", codeOf(nest.loops.front().distance, body_, false), reach - 1, reach);
    }

    std::expected<DraftCheck, skills::Refusal>
    write(const std::string& scope, const std::string& added, std::uint32_t offset) const {
        const auto launch = referenceLaunch(source_, function_, parallel_, nest_, checked_);
        if (!launch)
            return std::unexpected(launch.error());
        const std::string& newline = text_.layout().newline();
        const std::string& text = source_.text();
        const std::string end = text.substr(offset) + newline + *launch + newline;
        const bool isFold = !nest_.reductions.empty();
        DraftCheck check;
        check.kernel = scope + checked_.name;
        check.numerics = std::ranges::any_of(
                             nest_.reductions,
                             [&](const Reduction& reduction) { return rounds(body_, reduction); })
                             ? skills::Numerics::Reassociates
                             : skills::Numerics::Exact;
        check.line = source_.lineColumn(body_.stmt(nest_.statement).span.begin).line + 1;
        check.referenceText = text.substr(0, offset) + oneThread() + end;
        check.candidateText = (isFold ? "#include <cooperative_groups.h>" + newline : "") +
                              text.substr(0, offset) + added + (isFold ? bothKernels() : "") + end;
        return check;
    }

private:
    [[nodiscard]] const std::string& nameOf(const Reduction& reduction) const {
        return body_.variable(reduction.variable).name;
    }
    [[nodiscard]] std::string typeOf(const Reduction& reduction) const {
        return numberType(body_.variable(reduction.variable).type);
    }

    [[nodiscard]] std::string parameters() const {
        std::string list = text_.parameters();
        const auto append = [&](const std::string& item) {
            list += (list.empty() ? "" : ", ") + item;
        };
        for (const Reduction& reduction : nest_.reductions)
            if (!reduction.startsNeutral)
                append(typeOf(reduction) + " " + nameOf(reduction));
        for (std::size_t number = 0; number < nest_.reductions.size(); ++number)
            append(
                fmt::format("{}* {}", typeOf(nest_.reductions[number]), checked_.results[number]));
        return list;
    }

    /// A kernel whose first thread runs the original loops.
    [[nodiscard]] std::string oneThread() const {
        std::string positions;
        std::string isFirst;
        const std::size_t axes = nest_.reductions.empty() ? nest_.loops.size() : 1;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const char name = "xyz"[axis];
            positions += fmt::format("    const unsigned int kernelskill_{0} = blockIdx.{0} * "
                                     "blockDim.{0} + threadIdx.{0};\n",
                                     name);
            isFirst += fmt::format("{}kernelskill_{} < 1", axis == 0 ? "" : " && ", name);
        }
        std::string work;
        for (const StmtId declaration : checked_.inputs.declarations)
            work += std::string(source_.slice(body_.stmt(declaration).span)) + "\n";
        for (const Reduction& reduction : nest_.reductions)
            if (reduction.startsNeutral)
                work += fmt::format("{} {} = 0;\n", typeOf(reduction), nameOf(reduction));
        work += std::string(source_.slice(body_.stmt(nest_.statement).span)) + "\n";
        for (std::size_t number = 0; number < nest_.reductions.size(); ++number)
            work += fmt::format("{}[0] = {};\n", checked_.results[number],
                                nameOf(nest_.reductions[number]));
        return fmt::format("\n__global__ void {}({}) {{\n{}    if ({}) {{\n{}    }}\n}}\n",
                           checked_.name, parameters(), positions, isFirst, work);
    }

    /// A kernel that calls both kernels of a reduction and waits in between.
    [[nodiscard]] std::string bothKernels() const {
        std::string code;
        std::string arrays;
        std::string arguments;
        std::string results;
        const auto append = [&](const std::string& item) {
            arguments += (arguments.empty() ? "" : ", ") + item;
        };
        for (const VariableId variable : checked_.inputs.variables)
            append(body_.variable(variable).name);
        for (const Reduction& reduction : nest_.reductions)
            if (!reduction.startsNeutral)
                append(nameOf(reduction));
        for (std::size_t number = 0; number < nest_.reductions.size(); ++number) {
            const std::string array = fmt::format("kernelskill_parts_{}", number);
            code += fmt::format("\n__device__ {} {}[{}];\n", typeOf(nest_.reductions[number]),
                                array, maxParts);
            arrays += ", " + array;
            results += fmt::format("            {}[0] = {}[0];\n", checked_.results[number], array);
        }
        code += asDeviceFunction(kernel_.text, kernel_.name, "kernelskill_parts");
        code += asDeviceFunction(kernel_.totalText, kernel_.totalName, "kernelskill_total");
        return code + fmt::format("__global__ void {}({}) {{\n"
                                  "    kernelskill_parts({}{});\n"
                                  "    ::cooperative_groups::this_grid().sync();\n"
                                  "    if (blockIdx.x == 0) {{\n"
                                  "        kernelskill_total(gridDim.x{});\n"
                                  "        if (threadIdx.x == 0) {{\n{}        }}\n    }}\n}}\n",
                                  checked_.name, parameters(), arguments,
                                  arguments.empty() ? arrays.substr(2) : arrays, arrays, results);
    }

    [[nodiscard]] static std::string asDeviceFunction(std::string kernel, const std::string& name,
                                                      const std::string& newName) {
        const std::string head = "__global__ void " + name + "(";
        return kernel.replace(kernel.find(head), head.size(), "__device__ void " + newName + "(");
    }

    const SourceText& source_;
    const KernelModel& function_;
    const FunctionBody& body_;
    const ParallelFunction& parallel_;
    const ParallelNest& nest_;
    const WrittenKernel& kernel_;
    NestText text_;
    CheckedKernel checked_;
};

} // namespace

std::expected<DraftCheck, skills::Refusal>
checkOf(const FileModel& file, const KernelModel& function, const ParallelFunction& parallel,
        const ParallelNest& nest, const WrittenKernel& kernel, const std::string& added,
        std::uint32_t offset, DerivedNames& names) {
    const std::string scope =
        function.qualifiedName.substr(0, function.qualifiedName.size() - function.name.size());
    return CheckWriter(file, function, parallel, nest, kernel, names).write(scope, added, offset);
}

} // namespace kernelskill::engine
