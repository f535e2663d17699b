#include "engine/agents/generate/launcher_writer.h"

#include "engine/agents/generate/copied_text.h"
#include "engine/agents/generate/empty_loops.h"
#include "engine/agents/generate/kernel_inputs.h"
#include "engine/agents/generate/written_function.h"
#include "skills/rewriting/source_layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

namespace {

constexpr std::string_view axisNames = "xyz";

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : &name == &names.back() ? " and " : ", ") + name;
    return list;
}

class LauncherText {
public:
    LauncherText(const FileModel& file, const KernelModel& function,
                 const ParallelFunction& parallel, const WrittenFunction& written,
                 const DerivedNames& names)
        : source_(*file.source), function_(function), body_(function.body), parallel_(parallel),
          written_(written), names_(names), code_(function.body),
          macro_(checkMacro(source_, function.span.begin)), layout_(source_, function),
          copied_(source_, function, layout_),
          lines_(layout_, layout_.indentation(function.span.begin)) {
        for (const ArrayUse& use : parallel.arrays) {
            const std::string& name = parameterOf(use).name;
            device_[parameterOf(use).variable] = deviceName(name);
            bytes_[use.parameter] = fresh(names_.joined(name, "bytes"));
        }
        for (const ParallelNest& nest : parallel.nests)
            for (const Reduction& reduction : nest.reductions)
                if (!device_.contains(reduction.variable))
                    device_[reduction.variable] =
                        deviceName(names_.joined(body_.variable(reduction.variable).name, "parts"));
    }

    std::string write() {
        isEmptyAtOnce_ = canReturnAtOnce();
        addHead();
        if (isEmptyAtOnce_)
            addEmptyCase();
        const auto lastNest =
            std::ranges::find(parallel_.statements, parallel_.nests.back().statement);
        bool isOnGpu = false;
        for (auto statement = parallel_.statements.begin(); statement != parallel_.statements.end();
             ++statement) {
            const ParallelNest* nest = parallel_.nestAt(*statement);
            if (nest != nullptr && !std::exchange(isOnGpu, true))
                addArrays();
            if (nest != nullptr)
                addLaunch(*nest);
            else if (!parallel_.isOneKernel)
                copied_.add(lines_, copied_.withComments(*statement));
            if (statement == lastNest)
                addCopiesBack(statement + 1 == parallel_.statements.end());
        }
        addEnd();
        lines_.close();
        return lines_.text();
    }

private:
    [[nodiscard]] const Parameter& parameterOf(const ArrayUse& use) const {
        return function_.parameters[use.parameter];
    }
    [[nodiscard]] std::string numberOf(const Reduction& reduction) const {
        return numberType(body_.variable(reduction.variable).type);
    }

    /// `d_x`, or `deviceX` in a file that writes names so.
    [[nodiscard]] std::string deviceName(const std::string& name) {
        if (!names_.isCamel())
            return fresh("d_" + name);
        std::string result = "device" + name;
        result[6] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        return fresh(result);
    }
    /// Nothing in the function is called so, nor anything of this launcher.
    [[nodiscard]] std::string fresh(std::string wanted) {
        while (std::ranges::find(body_.variables, wanted, &Variable::name) !=
                   body_.variables.end() ||
               taken_.contains(wanted))
            wanted += "_";
        taken_.insert(wanted);
        return wanted;
    }

    /// Where no loop runs, nothing at all is done.
    [[nodiscard]] bool canReturnAtOnce() const {
        const std::string nothing = nothingToDo(body_, parallel_.nests.front());
        const bool isHostIdle =
            std::ranges::none_of(function_.accesses, [&](const MemoryAccess& access) {
                return access.kind != AccessKind::Read &&
                       std::ranges::none_of(parallel_.nests, [&](const ParallelNest& nest) {
                           return code_.holds(nest.statement, access.expression);
                       });
            });
        return parallel_.returned == noId && isHostIdle && !nothing.empty() &&
               std::ranges::all_of(parallel_.nests, [&](const ParallelNest& nest) {
                   return nothingToDo(body_, nest) == nothing;
               });
    }

    void addHead() {
        std::vector<std::string> kernels;
        for (const WrittenKernel& kernel : written_.kernels) {
            kernels.push_back(kernel.name);
            if (!kernel.totalName.empty())
                kernels.push_back(kernel.totalName);
        }
        lines_.add(kernels.size() > 2 ? fmt::format("// {} on the GPU.", function_.name)
                                      : fmt::format("// {} on the GPU, with {}.", function_.name,
                                                    listed(kernels)));
        std::vector<std::string> reordered;
        for (const ParallelNest& nest : parallel_.nests)
            for (const Reduction& reduction : nest.reductions)
                if (rounds(body_, reduction))
                    reordered.push_back(body_.variable(reduction.variable).name);
        if (!reordered.empty())
            lines_.add(fmt::format("// {} {} rounded in another order than there, in the same one "
                                   "each time.",
                                   listed(reordered), reordered.size() == 1 ? "is" : "are"));
        if (!parallel_.apart.empty())
            lines_.add(fmt::format("// {} must not overlap.", listed(parallel_.apart)));
        std::string parameters;
        for (const Parameter& parameter : function_.parameters)
            parameters += (parameters.empty() ? "" : ", ") + parameterText(source_, parameter);
        if (parallel_.returned != noId && macro_.empty()) {
            result_ = fresh("result");
            parameters += fmt::format("{}{}* {}", parameters.empty() ? "" : ", ",
                                      parallel_.resultType, result_);
        }
        const std::string type = macro_.empty()               ? "cudaError_t"
                                 : parallel_.returned == noId ? "void"
                                                              : parallel_.resultType;
        lines_.open(fmt::format("{} {}({}) {{", type, written_.launcherName, parameters));
    }

    void addEmptyCase() {
        lines_.open(fmt::format("if ({})", nothingToDo(body_, parallel_.nests.front())))
            .add(macro_.empty() ? "return cudaSuccess;" : "return;")
            .leave();
    }

    /// As far as the loops run for which it is there.
    [[nodiscard]] std::string bytesText(const ArrayUse& use) const {
        std::string code = codeOf(use.elements, body_, true, parallel_.rounds);
        if (use.elements.terms().size() > 1)
            code = "(" + code + ")";
        code += " * sizeof(" + numberType(parameterOf(use).type) + ")";
        std::set<std::string> nothing;
        if (!isEmptyAtOnce_)
            for (const ParallelNest& nest : parallel_.nests)
                if (arrayOf(function_, nest.arrays, parameterOf(use).variable) != nullptr)
                    nothing.insert(nothingToDo(body_, nest));
        return nothing.size() != 1 || nothing.begin()->empty()
                   ? code
                   : fmt::format("{} ? 0 : {}", *nothing.begin(), code);
    }

    void addArrays() {
        for (const ArrayUse& use : parallel_.arrays)
            lines_.add(fmt::format("{}* {} = nullptr;", numberType(parameterOf(use).type),
                                   device_[parameterOf(use).variable]));
        std::set<VariableId> folded;
        for (const ParallelNest& nest : parallel_.nests)
            for (const Reduction& reduction : nest.reductions)
                if (folded.insert(reduction.variable).second)
                    lines_.add(fmt::format("{}* {} = nullptr;", numberOf(reduction),
                                           device_[reduction.variable]));
        if (!folded.empty()) {
            mostBlocks_ = fresh(names_.joined("most", "blocks"));
            lines_.add(fmt::format("const int {} = {}; // on every GPU: results are the same",
                                   mostBlocks_, mostParts));
        }
        if (macro_.empty() && !parallel_.isOneKernel)
            addCleanUp();
        for (const ArrayUse& use : parallel_.arrays)
            lines_.add(fmt::format("const size_t {} = {};", bytes_[use.parameter], bytesText(use)));
        for (const ArrayUse& use : parallel_.arrays)
            addCall(fmt::format("cudaMalloc(&{}, {})", device_[parameterOf(use).variable],
                                bytes_[use.parameter]));
        folded.clear();
        for (const ParallelNest& nest : parallel_.nests)
            for (const Reduction& reduction : nest.reductions)
                if (folded.insert(reduction.variable).second)
                    addCall(fmt::format("cudaMalloc(&{}, {} * sizeof({}))",
                                        device_[reduction.variable], mostBlocks_,
                                        numberOf(reduction)));
        for (const ArrayUse& use : parallel_.arrays)
            if (use.needsValues)
                addCall(fmt::format("cudaMemcpy({}, {}, {}, cudaMemcpyHostToDevice)",
                                    device_[parameterOf(use).variable], parameterOf(use).name,
                                    bytes_[use.parameter]));
    }

    /// What is freed wherever the launcher returns.
    void addCleanUp() {
        finish_ = fresh("finish");
        lines_.open(fmt::format("const auto {} = [&](cudaError_t {}) {{", finish_, status_));
        for (const auto& [variable, name] : device_)
            lines_.add(fmt::format("cudaFree({});", name));
        lines_.add(fmt::format("return {};", status_)).close("};");
    }

    [[nodiscard]] std::string wrapped(const std::string& call) const {
        return macro_.empty() ? call + ";" : fmt::format("{}({});", macro_, call);
    }

    /// After an error nothing more is done but to free.
    void addCall(const std::string& call) {
        if (!macro_.empty()) {
            lines_.add(wrapped(call));
            return;
        }
        const bool isFirst = std::exchange(isFirst_, false);
        const std::string assignment =
            fmt::format("{}{} = {};", isFirst ? "cudaError_t " : "", status_, call);
        if (!finish_.empty()) {
            lines_.add(assignment)
                .open(fmt::format("if ({} != cudaSuccess)", status_))
                .add(fmt::format("return {}({});", finish_, status_))
                .leave();
        } else if (isFirst) {
            lines_.add(assignment);
        } else {
            lines_.open(fmt::format("if ({} == cudaSuccess)", status_)).add(assignment).leave();
        }
    }

    [[nodiscard]] std::string arguments(const ParallelNest& nest) {
        std::string list;
        const auto append = [&](const std::string& item) {
            list += (list.empty() ? "" : ", ") + item;
        };
        for (const VariableId variable : inputsOf(function_, code_, parallel_, nest).variables) {
            const auto device = device_.find(variable);
            const Variable& input = body_.variable(variable);
            append(device != device_.end() && input.type.pointerDepth > 0 ? device->second
                   : input.type.pointerDepth > 0                          ? "nullptr"
                                                                          : input.name);
        }
        for (const Reduction& reduction : nest.reductions)
            if (!reduction.startsNeutral)
                append(body_.variable(reduction.variable).name);
        for (const Reduction& reduction : nest.reductions)
            append(device_[reduction.variable]);
        return list;
    }

    void addLaunch(const ParallelNest& nest) {
        const WrittenKernel& kernel =
            written_.kernels[static_cast<std::size_t>(&nest - parallel_.nests.data())];
        const std::string something = isEmptyAtOnce_ ? "" : somethingToDo(body_, nest);
        const bool isInChain = macro_.empty() && finish_.empty();
        if (isInChain)
            lines_.open(fmt::format("if ({} == cudaSuccess) {{", status_));
        else if (!something.empty())
            lines_.open(fmt::format("if ({}) {{", something));
        if (!nest.reductions.empty())
            addFolding(nest, kernel);
        else
            addMapping(nest, kernel);
        if (isInChain)
            lines_.add(fmt::format("{} = cudaGetLastError();", status_));
        else
            addCall("cudaGetLastError()");
        for (const Reduction& reduction : nest.reductions)
            addCall(fmt::format("cudaMemcpy(&{0}, {1}, sizeof({0}), cudaMemcpyDeviceToHost)",
                                body_.variable(reduction.variable).name,
                                device_[reduction.variable]));
        if (isInChain || !something.empty())
            lines_.close();
    }

    void addMapping(const ParallelNest& nest, const WrittenKernel& kernel) {
        const std::array<int, 3> block = blockFor(nest.loops.size());
        if (nest.loops.size() == 1 && parallel_.nests.size() > 1) {
            const MappedLoop& only = nest.loops.front();
            lines_.add(fmt::format("{}<<<({} + {}u) / {}, {}>>>({});", kernel.name,
                                   codeOf(only.distance, body_, false), only.step * block[0] - 1,
                                   only.step * block[0], block[0], arguments(nest)));
            return;
        }
        const bool isAlone = parallel_.nests.size() == 1;
        const std::string blockName =
            fresh(isAlone ? "block" : names_.joined(kernel.purpose, "block"));
        const std::string gridName =
            fresh(isAlone ? "grid" : names_.joined(kernel.purpose, "grid"));
        std::array<std::string, 3> counts;
        for (const MappedLoop& mapped : nest.loops) {
            const auto axis = static_cast<std::size_t>(mapped.axis);
            std::string reach = fmt::format("{}.{}", blockName, axisNames[axis]);
            if (mapped.step != 1)
                reach = fmt::format("({} * {})", mapped.step, reach);
            counts[axis] =
                fmt::format("({0} + {1} - 1) / {1}", codeOf(mapped.distance, body_, false), reach);
        }
        std::string blockText;
        std::string gridText;
        for (std::size_t axis = 0; axis < nest.loops.size(); ++axis) {
            blockText += (axis == 0 ? "" : ", ") + std::to_string(block[axis]);
            gridText += (axis == 0 ? "" : ", ") + counts[axis];
        }
        lines_.add(fmt::format("const dim3 {}({});", blockName, blockText));
        lines_.add(fmt::format("const dim3 {}({});", gridName, gridText));
        lines_.add(
            fmt::format("{}<<<{}, {}>>>({});", kernel.name, gridName, blockName, arguments(nest)));
    }

    /// As many blocks as there is work for, up to a number that does not depend on the GPU.
    void addFolding(const ParallelNest& nest, const WrittenKernel& kernel) {
        const std::string& first = body_.variable(nest.reductions.front().variable).name;
        const std::string blocks = fresh(names_.joined(first, "blocks"));
        const MappedLoop& outer = nest.loops.front();
        // Of two loops, blocks take the rounds of the first.
        const std::int64_t reach = outer.step * (nest.loops.size() == 1 ? foldingThreads : 1);
        const std::string distance = codeOf(outer.distance, body_, false);
        const std::string wanted =
            reach == 1 ? distance : fmt::format("({} + {}) / {}", distance, reach - 1, reach);
        const std::string limit =
            reach == 1 ? mostBlocks_ : fmt::format("{} * {}", mostBlocks_, reach);
        lines_.add(fmt::format("const unsigned int {} = {} < {} ? {} : {};", blocks, distance,
                               limit, wanted, mostBlocks_));
        lines_.add(fmt::format("{}<<<{}, {}>>>({});", kernel.name, blocks, foldingThreads,
                               arguments(nest)));
        std::string parts = blocks;
        for (const Reduction& reduction : nest.reductions)
            parts += ", " + device_[reduction.variable];
        lines_.add(fmt::format("{}<<<1, {}>>>({});", kernel.totalName, foldingThreads, parts));
    }

    void addCopiesBack(bool isEnd) {
        std::vector<std::string> calls;
        for (const ArrayUse& use : parallel_.arrays)
            if (use.isWritten)
                calls.push_back(fmt::format(
                    "cudaMemcpy({}, {}, {}, cudaMemcpyDeviceToHost)", parameterOf(use).name,
                    device_[parameterOf(use).variable], bytes_[use.parameter]));
        if (isEnd && !finish_.empty() && result_.empty() && !calls.empty()) {
            last_ = std::move(calls.back());
            calls.pop_back();
        }
        for (const std::string& call : calls)
            addCall(call);
    }

    void addEnd() {
        std::string returned;
        if (parallel_.returned != noId)
            returned = source_.slice(body_.expr(parallel_.returned).span);
        if (!result_.empty())
            lines_.add(fmt::format("*{} = {};", result_, returned));
        if (!finish_.empty()) {
            lines_.add(fmt::format("return {}({});", finish_, last_));
            return;
        }
        for (const auto& [variable, name] : device_)
            lines_.add(wrapped(fmt::format("cudaFree({})", name)));
        if (macro_.empty())
            lines_.add(fmt::format("return {};", status_));
        else if (!returned.empty())
            lines_.add(fmt::format("return {};", returned));
    }

    const SourceText& source_;
    const KernelModel& function_;
    const FunctionBody& body_;
    const ParallelFunction& parallel_;
    const WrittenFunction& written_;
    const DerivedNames& names_;
    skills::CodeMap code_;
    std::string macro_;
    skills::SourceLayout layout_;
    CopiedText copied_;
    CodeLines lines_;
    std::set<std::string> taken_;
    std::map<VariableId, std::string> device_;   ///< Of arrays, and of the parts of reductions.
    std::map<std::uint32_t, std::string> bytes_; ///< By number of the parameter.
    std::string status_ = fresh("status");
    std::string mostBlocks_; ///< The name of the limit of a reduction's blocks.
    std::string finish_;     ///< The name of what frees; empty: what frees stands at the end alone.
    std::string last_ = "cudaSuccess"; ///< What is asked of the runtime before it.
    std::string result_; ///< The parameter for what the function returns; empty: none.
    bool isFirst_ = true;
    bool isEmptyAtOnce_ = false;
};

} // namespace

std::string writeLauncher(const FileModel& file, const KernelModel& function,
                          const ParallelFunction& parallel, const WrittenFunction& written,
                          const DerivedNames& names) {
    return LauncherText(file, function, parallel, written, names).write();
}

} // namespace kernelskill::engine
