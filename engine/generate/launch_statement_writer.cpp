#include "engine/generate/launch_statement_writer.h"

#include "engine/generate/kernel_inputs.h"
#include "skills/editing/code_lines.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <string>
#include <string_view>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

namespace {

class LaunchStatementText {
public:
    LaunchStatementText(CodeLines& lines, const KernelModel& function,
                        const analysis::CodeMap& code, const ParallelFunction& parallel,
                        const ParallelNest& nest, const WrittenKernel& kernel, LauncherNames& names)
        : lines_(lines), function_(function), body_(function.body), code_(code),
          parallel_(parallel), nest_(nest), kernel_(kernel), names_(names) {}

    void addMapping() {
        const std::array<int, 3> block = blockFor(nest_.loops.size());
        if (nest_.loops.size() == 1 && parallel_.nests.size() > 1) {
            const MappedLoop& only = nest_.loops.front();
            lines_.add(fmt::format("{}<<<({} + {}u) / {}, {}>>>({});", kernel_.name,
                                   codeOf(only.distance, body_, false), only.step * block[0] - 1,
                                   only.step * block[0], block[0], arguments()));
            return;
        }
        const bool isAlone = parallel_.nests.size() == 1;
        const std::string blockName =
            isAlone ? names_.fresh("block") : names_.fresh(kernel_.purpose, "block");
        const std::string gridName =
            isAlone ? names_.fresh("grid") : names_.fresh(kernel_.purpose, "grid");
        std::array<std::string, 3> counts;
        for (const MappedLoop& mapped : nest_.loops) {
            const auto axis = static_cast<std::size_t>(mapped.axis);
            std::string reach = fmt::format("{}.{}", blockName, axisNames[axis]);
            if (mapped.step != 1)
                reach = fmt::format("({} * {})", mapped.step, reach);
            counts[axis] =
                fmt::format("({0} + {1} - 1) / {1}", codeOf(mapped.distance, body_, false), reach);
        }
        std::string blockText;
        std::string gridText;
        for (std::size_t axis = 0; axis < nest_.loops.size(); ++axis) {
            blockText += (axis == 0 ? "" : ", ") + std::to_string(block[axis]);
            gridText += (axis == 0 ? "" : ", ") + counts[axis];
        }
        lines_.add(fmt::format("const dim3 {}({});", blockName, blockText));
        lines_.add(fmt::format("const dim3 {}({});", gridName, gridText));
        lines_.add(
            fmt::format("{}<<<{}, {}>>>({});", kernel_.name, gridName, blockName, arguments()));
    }

    /// Adds the number of blocks: as many as the work needs, up to a maximum that does not depend
    /// on the GPU.
    void addFolding() {
        const std::string& first = body_.variable(nest_.reductions.front().variable).name;
        const std::string blocks = names_.fresh(first, "blocks");
        const MappedLoop& outer = nest_.loops.front();
        // With two loops, blocks share the iterations of the first one.
        const std::int64_t reach = outer.step * (nest_.loops.size() == 1 ? foldingThreads : 1);
        const std::string distance = codeOf(outer.distance, body_, false);
        const std::string wanted =
            reach == 1 ? distance : fmt::format("({} + {}) / {}", distance, reach - 1, reach);
        const std::string limit =
            reach == 1 ? names_.maxBlocks() : fmt::format("{} * {}", names_.maxBlocks(), reach);
        lines_.add(fmt::format("const unsigned int {} = {} < {} ? {} : {};", blocks, distance,
                               limit, wanted, names_.maxBlocks()));
        lines_.add(
            fmt::format("{}<<<{}, {}>>>({});", kernel_.name, blocks, foldingThreads, arguments()));
        std::string parts = blocks;
        for (const Reduction& reduction : nest_.reductions)
            parts += ", " + names_.device().at(reduction.variable);
        lines_.add(fmt::format("{}<<<1, {}>>>({});", kernel_.totalName, foldingThreads, parts));
    }

private:
    [[nodiscard]] std::string arguments() {
        std::string list;
        const auto append = [&](const std::string& item) {
            list += (list.empty() ? "" : ", ") + item;
        };
        for (const VariableId variable : inputsOf(function_, code_, parallel_, nest_).variables) {
            const auto device = names_.device().find(variable);
            const Variable& input = body_.variable(variable);
            append(device != names_.device().end() && input.type.pointerDepth > 0 ? device->second
                   : input.type.pointerDepth > 0                                  ? "nullptr"
                                                                                  : input.name);
        }
        for (const Reduction& reduction : nest_.reductions)
            if (!reduction.startsNeutral)
                append(body_.variable(reduction.variable).name);
        for (const Reduction& reduction : nest_.reductions)
            append(names_.device().at(reduction.variable));
        return list;
    }

    CodeLines& lines_;
    const KernelModel& function_;
    const FunctionBody& body_;
    const analysis::CodeMap& code_;
    const ParallelFunction& parallel_;
    const ParallelNest& nest_;
    const WrittenKernel& kernel_;
    LauncherNames& names_;
};

} // namespace

void addLaunch(CodeLines& lines, const KernelModel& function, const analysis::CodeMap& code,
               const ParallelFunction& parallel, const ParallelNest& nest,
               const WrittenKernel& kernel, LauncherNames& names) {
    LaunchStatementText text(lines, function, code, parallel, nest, kernel, names);
    if (nest.reductions.empty())
        text.addMapping();
    else
        text.addFolding();
}

} // namespace kernelskill::engine
