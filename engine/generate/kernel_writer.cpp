#include "engine/generate/kernel_writer.h"

#include "analysis/queries/source_layout.h"
#include "engine/generate/host_function_writer.h"
#include "engine/generate/nest_text.h"
#include "engine/generate/reduction_writer.h"
#include "skills/editing/code_lines.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

namespace {

std::string mapKernel(const NestText& text, const KernelModel& function, const ParallelNest& nest,
                      const std::string& indentation, const std::string& name) {
    CodeLines lines(text.layout(), indentation);
    std::string threads;
    for (const MappedLoop& mapped : nest.loops)
        threads += (threads.empty() ? "" : ", ") + text.nameOf(mapped);
    lines.add(fmt::format("// One thread for each {} of {}.",
                          nest.loops.size() == 1 ? threads : "(" + threads + ")", function.name));
    lines.open(fmt::format("__global__ void {}({}) {{", name, text.parameters()));
    text.addLeadingText(lines);
    std::string guard;
    for (const MappedLoop& mapped : nest.loops) {
        lines.add(text.indexLine(mapped));
        guard += (guard.empty() ? "" : " || ") + text.outside(mapped);
    }
    lines.open(fmt::format("if ({})", guard)).add("return;").leave();
    text.addBody(lines, true);
    lines.close();
    return lines.text();
}

void addConfiguration(const KernelModel& function, const ParallelNest& nest,
                      WrittenKernel& kernel) {
    const std::array<int, 3> block = blockFor(nest.loops.size());
    std::array<std::string, 3> grid;
    for (const MappedLoop& mapped : nest.loops) {
        const auto axis = static_cast<std::size_t>(mapped.axis);
        const std::int64_t reach = mapped.step * block[axis];
        grid[axis] = fmt::format("({} + {}) / {}", codeOf(mapped.distance, function.body, false),
                                 reach - 1, reach);
    }
    for (std::size_t axis = 0; axis < nest.loops.size(); ++axis) {
        kernel.grid += (axis == 0 ? "" : ", ") + grid[axis];
        kernel.block += (axis == 0 ? "" : ", ") + std::to_string(block[axis]);
    }
    if (nest.loops.size() > 1) {
        kernel.grid = "dim3(" + kernel.grid + ")";
        kernel.block = "dim3(" + kernel.block + ")";
    }
}

/// The variable that a nest folds into, else the first array that it writes.
std::string purposeOf(const KernelModel& function, const ParallelNest& nest) {
    if (!nest.reductions.empty())
        return function.body.variable(nest.reductions.front().variable).name;
    const auto written = std::ranges::find_if(nest.arrays, &ArrayUse::isWritten);
    return written == nest.arrays.end() ? "" : function.parameters[written->parameter].name;
}

/// Whether the partial results of both nests are combined in the same way.
bool haveOneTotal(const KernelModel& function, const ParallelNest& a, const ParallelNest& b) {
    const auto type = [&](const ParallelNest& nest) {
        return numberType(function.body.variable(nest.reductions.front().variable).type);
    };
    return a.reductions.size() == 1 && b.reductions.size() == 1 &&
           a.reductions.front().fold == b.reductions.front().fold && type(a) == type(b);
}

} // namespace

std::array<int, 3> blockFor(std::size_t loops) {
    if (loops == 1)
        return {256, 1, 1};
    return loops == 2 ? std::array{32, 8, 1} : std::array{32, 4, 2};
}

std::string WrittenFunction::text(const std::string& newline) const {
    std::string all = helpers;
    std::set<std::string> written;
    const auto add = [&](const std::string& definition) {
        all += (all.empty() || definition.empty() ? "" : newline) + definition;
    };
    for (const WrittenKernel& kernel : kernels) {
        add(kernel.text);
        if (written.insert(kernel.totalName).second)
            add(kernel.totalText);
    }
    add(launcher);
    return all;
}

WrittenFunction writeFunction(const FileModel& file, const KernelModel& function,
                              const ParallelFunction& parallel, DerivedNames& names) {
    const analysis::SourceLayout layout(*file.source, function);
    const std::string indentation = layout.indentation(function.span.begin);
    WrittenFunction written;
    BlockFolds folds(function.body, parallel, layout, indentation, names);
    for (const ParallelNest& nest : parallel.nests) {
        WrittenKernel& kernel = written.kernels.emplace_back();
        kernel.purpose = purposeOf(function, nest);
        std::vector<std::string> words;
        if (parallel.nests.size() > 1 && !kernel.purpose.empty())
            words.push_back(kernel.purpose);
        words.emplace_back("kernel");
        kernel.name = names.next(words);
        const NestText text(file, function, parallel, nest);
        if (nest.reductions.empty()) {
            kernel.text = mapKernel(text, function, nest, indentation, kernel.name);
            addConfiguration(function, nest, kernel);
            continue;
        }
        const auto alike = std::ranges::find_if(parallel.nests, [&](const ParallelNest& other) {
            return &other == &nest || haveOneTotal(function, other, nest);
        });
        if (&*alike != &nest) {
            const WrittenKernel& other =
                written.kernels[static_cast<std::size_t>(alike - parallel.nests.begin())];
            kernel.totalName = other.totalName;
            kernel.totalText = other.totalText;
        } else {
            if (nest.reductions.size() == 1 && parallel.nests.size() > 1)
                words = {nameOf(nest.reductions.front().fold), "kernel"};
            words.insert(words.begin(), "total");
            kernel.totalName = names.next(words);
        }
        kernel.block = std::to_string(foldingThreads);
        writeReduction(text, function, nest, names, folds, indentation, kernel);
    }
    written.helpers = folds.text();
    written.launcherName = names.next({"gpu"});
    written.launcher = writeHostFunction(file, function, parallel, written, names);
    return written;
}

} // namespace kernelskill::engine
