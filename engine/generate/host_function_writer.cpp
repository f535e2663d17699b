#include "engine/generate/host_function_writer.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "engine/generate/copied_text.h"
#include "engine/generate/empty_loops.h"
#include "engine/generate/kernel_inputs.h"
#include "engine/generate/launch_statement_writer.h"
#include "engine/generate/launcher_names.h"
#include "engine/generate/written_function.h"
#include "skills/editing/code_lines.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

namespace {

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : &name == &names.back() ? " and " : ", ") + name;
    return list;
}

class HostFunctionText {
public:
    HostFunctionText(const FileModel& file, const KernelModel& function,
                     const ParallelFunction& parallel, const WrittenFunction& written,
                     const DerivedNames& names)
        : source_(*file.source), function_(function), body_(function.body), parallel_(parallel),
          written_(written), code_(function.body), macro_(checkMacro(source_, function.span.begin)),
          layout_(source_, function), copied_(source_, function, layout_),
          lines_(layout_, layout_.indentation(function.span.begin)),
          names_(function, parallel, names) {}

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
                addNest(*nest);
            else if (!parallel_.isOneKernel &&
                     !isOfKernelsAlone(function_, code_, parallel_, *statement))
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
    [[nodiscard]] const std::string& deviceOf(const ArrayUse& use) const {
        return names_.device().at(parameterOf(use).variable);
    }
    [[nodiscard]] std::string numberOf(const Reduction& reduction) const {
        return numberType(body_.variable(reduction.variable).type);
    }

    /// Whether the function does nothing if no loop runs.
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
            if (!kernel.totalName.empty() &&
                std::ranges::find(kernels, kernel.totalName) == kernels.end())
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
            result_ = names_.fresh("result");
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

    /// The bytes that are needed if the loops run for which the array is used.
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
            lines_.add(
                fmt::format("{}* {} = nullptr;", numberType(parameterOf(use).type), deviceOf(use)));
        std::set<VariableId> folded;
        for (const ParallelNest& nest : parallel_.nests)
            for (const Reduction& reduction : nest.reductions)
                if (folded.insert(reduction.variable).second)
                    lines_.add(fmt::format("{}* {} = nullptr;", numberOf(reduction),
                                           names_.device().at(reduction.variable)));
        if (!folded.empty()) {
            lines_.add(fmt::format("const int {} = {}; // on every GPU: results are the same",
                                   names_.maxBlocks(), maxParts));
        }
        if (macro_.empty() && !parallel_.isOneKernel)
            addCleanUp();
        for (const ArrayUse& use : parallel_.arrays)
            lines_.add(
                fmt::format("const size_t {} = {};", names_.bytes(use.parameter), bytesText(use)));
        for (const ArrayUse& use : parallel_.arrays)
            addCall(fmt::format("cudaMalloc(&{}, {})", deviceOf(use), names_.bytes(use.parameter)));
        folded.clear();
        for (const ParallelNest& nest : parallel_.nests)
            for (const Reduction& reduction : nest.reductions)
                if (folded.insert(reduction.variable).second)
                    addCall(fmt::format("cudaMalloc(&{}, {} * sizeof({}))",
                                        names_.device().at(reduction.variable), names_.maxBlocks(),
                                        numberOf(reduction)));
        for (const ArrayUse& use : parallel_.arrays)
            if (use.needsValues)
                addCall(fmt::format("cudaMemcpy({}, {}, {}, cudaMemcpyHostToDevice)", deviceOf(use),
                                    parameterOf(use).name, names_.bytes(use.parameter)));
    }

    /// Adds the statements that free memory wherever the function returns.
    void addCleanUp() {
        finish_ = names_.fresh("finish");
        lines_.open(
            fmt::format("const auto {} = [&](cudaError_t {}) {{", finish_, names_.status()));
        for (const auto& [variable, name] : names_.device())
            lines_.add(fmt::format("cudaFree({});", name));
        lines_.add(fmt::format("return {};", names_.status())).close("};");
    }

    [[nodiscard]] std::string wrapped(const std::string& call) const {
        return macro_.empty() ? call + ";" : fmt::format("{}({});", macro_, call);
    }

    /// After an error, only the clean-up follows.
    void addCall(const std::string& call) {
        if (!macro_.empty()) {
            lines_.add(wrapped(call));
            return;
        }
        const bool isFirst = std::exchange(isFirst_, false);
        const std::string assignment =
            fmt::format("{}{} = {};", isFirst ? "cudaError_t " : "", names_.status(), call);
        if (!finish_.empty()) {
            lines_.add(assignment)
                .open(fmt::format("if ({} != cudaSuccess)", names_.status()))
                .add(fmt::format("return {}({});", finish_, names_.status()))
                .leave();
        } else if (isFirst) {
            lines_.add(assignment);
        } else {
            lines_.open(fmt::format("if ({} == cudaSuccess)", names_.status()))
                .add(assignment)
                .leave();
        }
    }

    void addNest(const ParallelNest& nest) {
        const WrittenKernel& kernel =
            written_.kernels[static_cast<std::size_t>(&nest - parallel_.nests.data())];
        const std::string something = isEmptyAtOnce_ ? "" : somethingToDo(body_, nest);
        const bool isInChain = macro_.empty() && finish_.empty();
        if (isInChain)
            lines_.open(fmt::format("if ({} == cudaSuccess) {{", names_.status()));
        else if (!something.empty())
            lines_.open(fmt::format("if ({}) {{", something));
        engine::addLaunch(lines_, function_, code_, parallel_, nest, kernel, names_);
        if (isInChain)
            lines_.add(fmt::format("{} = cudaGetLastError();", names_.status()));
        else
            addCall("cudaGetLastError()");
        for (const Reduction& reduction : nest.reductions)
            addCall(fmt::format("cudaMemcpy(&{0}, {1}, sizeof({0}), cudaMemcpyDeviceToHost)",
                                body_.variable(reduction.variable).name,
                                names_.device().at(reduction.variable)));
        if (isInChain || !something.empty())
            lines_.close();
    }

    void addCopiesBack(bool isEnd) {
        std::vector<std::string> calls;
        for (const ArrayUse& use : parallel_.arrays)
            if (use.isWritten)
                calls.push_back(fmt::format("cudaMemcpy({}, {}, {}, cudaMemcpyDeviceToHost)",
                                            parameterOf(use).name, deviceOf(use),
                                            names_.bytes(use.parameter)));
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
        for (const auto& [variable, name] : names_.device())
            lines_.add(wrapped(fmt::format("cudaFree({})", name)));
        if (macro_.empty())
            lines_.add(fmt::format("return {};", names_.status()));
        else if (!returned.empty())
            lines_.add(fmt::format("return {};", returned));
    }

    const SourceText& source_;
    const KernelModel& function_;
    const FunctionBody& body_;
    const ParallelFunction& parallel_;
    const WrittenFunction& written_;
    analysis::CodeMap code_;
    std::string macro_;
    analysis::SourceLayout layout_;
    CopiedText copied_;
    CodeLines lines_;
    LauncherNames names_;
    std::string finish_; ///< The name of the function that frees; empty if only the end frees.
    std::string last_ = "cudaSuccess"; ///< The status expression to check before it.
    std::string result_; ///< The parameter for the function's result; empty if there is none.
    bool isFirst_ = true;
    bool isEmptyAtOnce_ = false;
};

} // namespace

std::string writeHostFunction(const FileModel& file, const KernelModel& function,
                              const ParallelFunction& parallel, const WrittenFunction& written,
                              const DerivedNames& names) {
    return HostFunctionText(file, function, parallel, written, names).write();
}

} // namespace kernelskill::engine
