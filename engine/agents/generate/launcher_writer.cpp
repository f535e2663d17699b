#include "engine/agents/generate/launcher_writer.h"

#include "engine/agents/generate/written_function.h"
#include "skills/rewriting/source_layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

namespace {

constexpr std::string_view axisNames = "xyz";

class LauncherText {
public:
    LauncherText(const FileModel& file, const KernelModel& function, const ParallelNest& nest,
                 const WrittenKernel& names)
        : source_(*file.source), function_(function), nest_(nest), names_(names),
          macro_(checkMacro(source_, function.span.begin)), layout_(source_, function),
          lines_(layout_, layout_.indentation(function.span.begin)) {
        for (const ArrayUse& use : nest.arrays) {
            const std::string& name = parameterOf(use).name;
            device_[use.parameter] = deviceName(name);
            bytes_[use.parameter] = fresh(name + (isCamel_ ? "Bytes" : "_bytes"));
        }
    }

    std::string write() {
        addHead();
        addEmptyCase();
        for (const ArrayUse& use : nest_.arrays)
            lines_.add(fmt::format("{}* {} = nullptr;", elementType(parameterOf(use)),
                                   device_[use.parameter]));
        for (const ArrayUse& use : nest_.arrays)
            lines_.add(fmt::format("const size_t {} = {} * sizeof({});", bytes_[use.parameter],
                                   elements(use), elementType(parameterOf(use))));
        for (const ArrayUse& use : nest_.arrays)
            addCall(
                fmt::format("cudaMalloc(&{}, {})", device_[use.parameter], bytes_[use.parameter]));
        for (const ArrayUse& use : nest_.arrays)
            if (use.isRead || !use.isWrittenWhole)
                addCall(fmt::format("cudaMemcpy({}, {}, {}, cudaMemcpyHostToDevice)",
                                    device_[use.parameter], parameterOf(use).name,
                                    bytes_[use.parameter]));
        addLaunch();
        for (const ArrayUse& use : nest_.arrays)
            if (use.isWritten)
                addCall(fmt::format("cudaMemcpy({}, {}, {}, cudaMemcpyDeviceToHost)",
                                    parameterOf(use).name, device_[use.parameter],
                                    bytes_[use.parameter]));
        for (const ArrayUse& use : nest_.arrays)
            lines_.add(wrapped(fmt::format("cudaFree({})", device_[use.parameter])));
        if (macro_.empty())
            lines_.add(fmt::format("return {};", status_));
        lines_.close();
        return lines_.text();
    }

private:
    [[nodiscard]] const Parameter& parameterOf(const ArrayUse& use) const {
        return function_.parameters[use.parameter];
    }

    /// `d_x`, or `deviceX` in a file that writes names so.
    [[nodiscard]] std::string deviceName(const std::string& name) const {
        if (!isCamel_)
            return fresh("d_" + name);
        std::string result = "device" + name;
        result[6] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        return fresh(result);
    }
    /// No parameter is called so.
    [[nodiscard]] std::string fresh(const std::string& wanted) const {
        return wanted.empty() || std::ranges::find(function_.parameters, wanted,
                                                   &Parameter::name) == function_.parameters.end()
                   ? wanted
                   : wanted + "_";
    }

    void addHead() {
        lines_.add(fmt::format("// {} on the GPU, with {}.", function_.name, names_.kernelName));
        if (!nest_.apart.empty()) {
            std::string list;
            for (const std::string& name : nest_.apart)
                list += (list.empty() ? "" : &name == &nest_.apart.back() ? " and " : ", ") + name;
            lines_.add(fmt::format("// {} must not overlap.", list));
        }
        std::string parameters;
        for (const Parameter& parameter : function_.parameters)
            parameters += (parameters.empty() ? "" : ", ") + parameterText(source_, parameter);
        lines_.open(fmt::format("{} {}({}) {{", macro_.empty() ? "cudaError_t" : "void",
                                names_.launcherName, parameters));
    }

    void addEmptyCase() {
        std::string nothing;
        for (const MappedLoop& mapped : nest_.loops) {
            if (mapped.distance.asConstant())
                continue;
            // Constants on the right: `n - 1 <= 0` would not hold for an unsigned n of 0.
            std::int64_t shift = 0;
            for (const auto& [monomial, coefficient] : mapped.distance.terms())
                if (monomial.empty())
                    shift = coefficient;
            nothing += fmt::format(
                "{}{} <= {}", nothing.empty() ? "" : " || ",
                codeOf(mapped.distance - IndexExpression::constant(shift), function_.body, false),
                -shift);
        }
        if (nothing.empty())
            return;
        lines_.open(fmt::format("if ({})", nothing))
            .add(macro_.empty() ? "return cudaSuccess;" : "return;")
            .leave();
    }

    [[nodiscard]] std::string elements(const ArrayUse& use) const {
        const std::string code = codeOf(use.elements, function_.body, true, nest_.rounds);
        return use.elements.terms().size() > 1 ? "(" + code + ")" : code;
    }

    [[nodiscard]] std::string wrapped(const std::string& call) const {
        return macro_.empty() ? call + ";" : fmt::format("{}({});", macro_, call);
    }

    /// After an error nothing more is done but to free.
    void addCall(const std::string& call) {
        if (!macro_.empty()) {
            lines_.add(wrapped(call));
        } else if (std::exchange(isFirst_, false)) {
            lines_.add(fmt::format("cudaError_t {} = {};", status_, call));
        } else {
            lines_.open(fmt::format("if ({} == cudaSuccess)", status_))
                .add(fmt::format("{} = {};", status_, call))
                .leave();
        }
    }

    void addLaunch() {
        if (macro_.empty())
            lines_.open(fmt::format("if ({} == cudaSuccess) {{", status_));
        const std::array<int, 3> block = blockFor(nest_.loops.size());
        const std::string blockName = fresh("block");
        const std::string gridName = fresh("grid");
        std::array<std::string, 3> counts;
        for (const MappedLoop& mapped : nest_.loops) {
            const auto axis = static_cast<std::size_t>(mapped.axis);
            std::string reach = fmt::format("{}.{}", blockName, axisNames[axis]);
            if (mapped.step != 1)
                reach = fmt::format("({} * {})", mapped.step, reach);
            counts[axis] = fmt::format("({0} + {1} - 1) / {1}",
                                       codeOf(mapped.distance, function_.body, false), reach);
        }
        std::string blockText;
        std::string gridText;
        for (std::size_t axis = 0; axis < nest_.loops.size(); ++axis) {
            blockText += (axis == 0 ? "" : ", ") + std::to_string(block[axis]);
            gridText += (axis == 0 ? "" : ", ") + counts[axis];
        }
        lines_.add(fmt::format("const dim3 {}({});", blockName, blockText));
        lines_.add(fmt::format("const dim3 {}({});", gridName, gridText));
        std::string arguments;
        for (std::uint32_t number = 0; number < function_.parameters.size(); ++number) {
            const auto device = device_.find(number);
            const Parameter& parameter = function_.parameters[number];
            const std::string unused = parameter.type.pointerDepth > 0 ? "nullptr" : parameter.name;
            arguments +=
                (number == 0 ? "" : ", ") + (device != device_.end() ? device->second : unused);
        }
        lines_.add(
            fmt::format("{}<<<{}, {}>>>({});", names_.kernelName, gridName, blockName, arguments));
        if (macro_.empty())
            lines_.add(fmt::format("{} = cudaGetLastError();", status_)).close();
        else
            lines_.add(wrapped("cudaGetLastError()"));
    }

    const SourceText& source_;
    const KernelModel& function_;
    const ParallelNest& nest_;
    const WrittenKernel& names_;
    std::string macro_;
    skills::SourceLayout layout_;
    CodeLines lines_;
    bool isCamel_ = !names_.launcherName.contains('_');
    std::map<std::uint32_t, std::string> device_; ///< By number of the parameter.
    std::map<std::uint32_t, std::string> bytes_;
    std::string status_ = fresh("status");
    bool isFirst_ = true;
};

} // namespace

std::string writeLauncher(const FileModel& file, const KernelModel& function,
                          const ParallelNest& nest, const WrittenKernel& names) {
    return LauncherText(file, function, nest, names).write();
}

} // namespace kernelskill::engine
