#include "engine/inputs/equal_pointers.h"

#include "analysis/queries/pointer_origins.h"
#include "analysis/queries/shared_analysis.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::KernelModel;
using analysis::Parameter;

/// Integers may be indices or sizes, which no output is.
bool isPlainPointer(const Parameter& parameter) {
    return parameter.type.pointerDepth == 1 && !parameter.type.isDependent &&
           parameter.type.scalar >= analysis::ScalarKind::Half && !parameter.escapes;
}

bool haveSameElements(const analysis::Type& a, const analysis::Type& b) {
    return a.scalar == b.scalar && a.lanes == b.lanes && a.elementSize == b.elementSize;
}

const Parameter* parameterNamed(const KernelModel& kernel, const std::string& name) {
    const auto found = std::ranges::find(kernel.parameters, name, &Parameter::name);
    return found == kernel.parameters.end() ? nullptr : &*found;
}

/// Whether a launch may pass one allocation for both. Without a launch in the file, a caller may.
bool mayBeEqual(KernelInFile subject, std::size_t a, std::size_t b) {
    const analysis::SharedAnalysis shared(subject.file, subject.kernel);
    const auto passesOne = [&](const analysis::LaunchSite& site) {
        if (site.host >= subject.file.hostFunctions.size() || a >= site.arguments.size() ||
            b >= site.arguments.size())
            return true;
        return analysis::PointerOrigins(subject.file, shared, site.host)
            .commonOrigin(site.arguments[a], site.arguments[b])
            .has_value();
    };
    return subject.kernel.launches.empty() ||
           std::ranges::any_of(subject.kernel.launches, passesOne);
}

/// Whether a launch passes the same variable for both.
bool isPassedEqual(KernelInFile subject, std::size_t a, std::size_t b) {
    return std::ranges::any_of(subject.kernel.launches, [&](const analysis::LaunchSite& site) {
        if (site.host >= subject.file.hostFunctions.size() || a >= site.arguments.size() ||
            b >= site.arguments.size())
            return false;
        const analysis::FunctionBody& body = subject.file.hostFunctions[site.host].body;
        const analysis::Expr& one = body.expr(site.arguments[a]);
        const analysis::Expr& other = body.expr(site.arguments[b]);
        return one.kind == analysis::ExprKind::Variable && other.kind == one.kind &&
               one.variable != analysis::noId && one.variable == other.variable;
    });
}

BufferSpec* bufferNamed(LaunchSpec& launch, const std::string& name) {
    for (ArgumentSpec& argument : launch.arguments) {
        auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer != nullptr && buffer->name == name)
            return buffer;
    }
    return nullptr;
}

} // namespace

PointerPairs pointerPairs(KernelInFile original, KernelInFile candidate) {
    PointerPairs pairs;
    const auto& parameters = original.kernel.parameters;
    for (std::size_t in = 0; in < parameters.size(); ++in) {
        for (std::size_t out = 0; out < parameters.size(); ++out) {
            const Parameter& input = parameters[in];
            const Parameter& output = parameters[out];
            const bool isPair = isPlainPointer(input) && isPlainPointer(output) && input.isRead &&
                                !input.isWritten && output.isWritten &&
                                haveSameElements(input.type, output.type) &&
                                !input.type.isRestrict && !output.type.isRestrict;
            const Parameter* theirInput = parameterNamed(candidate.kernel, input.name);
            const Parameter* theirOutput = parameterNamed(candidate.kernel, output.name);
            if (!isPair || theirInput == nullptr || theirOutput == nullptr ||
                !mayBeEqual(original, in, out))
                continue;
            const bool isRestricted = theirInput->type.isRestrict || theirOutput->type.isRestrict;
            (isRestricted ? pairs.newlyRestricted : pairs.equal)
                .push_back({input.name, output.name, isPassedEqual(original, in, out)});
        }
    }
    return pairs;
}

LaunchSpec withEqualPointers(LaunchSpec launch, const PointerPair& pair) {
    BufferSpec* const input = bufferNamed(launch, pair.input);
    BufferSpec* const output = bufferNamed(launch, pair.output);
    if (input == nullptr || output == nullptr || input->captured || output->captured)
        return launch;
    if (!output->isInput) {
        output->fill = input->fill;
        output->value = input->value;
        output->integerRange = input->integerRange;
        output->choice = input->choice;
        output->isInput = true;
    }
    if (!output->elements)
        output->elements = input->elements;
    input->sameAs = output->name;
    return launch;
}

} // namespace kernelskill::engine
