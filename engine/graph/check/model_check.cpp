#include "engine/graph/check/model_check.h"

#include "analysis/raise/channels_last.h"
#include "analysis/source/try.h"
#include "engine/execution/cut_off.h"
#include "engine/graph/check/emulated_model.h"
#include "engine/graph/check/tensor_numbers.h"
#include "engine/graph/extent_expression.h"
#include "engine/graph/lowering/extent_index.h"
#include "engine/graph/lowering/lowering.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/reference/contiguous_tensor.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "engine/graph/reference/smaller_program.h"
#include "engine/graph/symbol_values.h"
#include "engine/graph/type_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

/// The max error of a result, relative to the reference where that is greater than 1.
double toleranceFor(analysis::ScalarKind element, MultiplyUnit unit) {
    if (element == analysis::ScalarKind::Half || element == analysis::ScalarKind::BFloat16 ||
        unit == MultiplyUnit::TF32)
        return 2e-2;
    return unit == MultiplyUnit::BFloat16Split ? 2e-3 : 2e-4;
}

double errorOf(double found, double expected) {
    if (found == expected || (std::isnan(found) && std::isnan(expected)))
        return 0;
    const double error = std::abs(found - expected) / std::max(1.0, std::abs(expected));
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

class ModelCheckRun {
public:
    ModelCheckRun(const Program& program, const ModelReference& reference,
                  const ModelCheckOptions& options, Executor& executor,
                  const analysis::Toolchain& toolchain, std::stop_token stop)
        : program_(program), reference_(reference), options_(options), executor_(executor),
          toolchain_(toolchain), stop_(std::move(stop)) {}

    ModelCheck run() {
        std::vector<SymbolValues> trials = symbolTrials(program_);
        if (trials.empty()) {
            const auto exported = exportedSymbols(program_);
            check_.why =
                exported ? symbolProblem(program_, *exported) : exported.error().describe();
            return std::move(check_);
        }
        std::string notCompared; // The first of the trials that were not.
        for (const SymbolValues& symbols : trials) {
            check_.why.clear();
            compareWith(symbols);
            if (check_.outcome == ModelCheck::Outcome::Differs) {
                // The extents that agreed say nothing about the ones that do not.
                check_.shapes.erase(check_.shapes.begin(), check_.shapes.end() - 1);
                return std::move(check_);
            }
            if (!check_.why.empty() && notCompared.empty())
                notCompared = symbols.empty()
                                  ? check_.why
                                  : fmt::format("not with {}: {}", textOf(symbols), check_.why);
        }
        check_.why = std::move(notCompared);
        return std::move(check_);
    }

private:
    struct Attempt {
        ExtentLimit limit;
        double maxWork;
    };
    /// A program with its extents, and its plan.
    struct Subject {
        ProgramExtents extents;
        Program program; ///< Its dynamic extents have the values.
        ModelPlan plan;
        double work = 0;
    };

    static std::string textOf(const SymbolValues& symbols) {
        std::string text;
        for (const auto& [symbol, value] : symbols)
            text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", symbol, value);
        return text;
    }

    /// Compares with these values and the first extents that do for the others, and adds a shape;
    /// or leaves a reason.
    void compareWith(const SymbolValues& symbols) {
        // Convolution windows need large extents, and heavy programs need small ones. A program
        // that fails with all of them gets more time, at last with its own extents.
        const double usual = options_.maxWork;
        const double patient = 25 * usual;
        const std::array attempts{Attempt{{}, usual},   Attempt{64, usual},   Attempt{32, usual},
                                  Attempt{20, usual},   Attempt{12, patient}, Attempt{20, patient},
                                  Attempt{32, patient}, Attempt{64, patient}, Attempt{{}, patient}};
        // The work of plans that had too much of it; 0 for those that ran.
        std::map<ExtentLimit, double> works;
        std::string tooMuch; // Why extents were not tried.
        for (const Attempt& attempt : attempts) {
            if (stop_.stop_requested())
                break;
            if (const auto known = works.find(attempt.limit);
                known != works.end() && (known->second == 0 || known->second > attempt.maxWork))
                continue;
            const auto subject = planned({attempt.limit, smaller(symbols, attempt.limit)});
            if (subject && subject->work > attempt.maxWork) {
                works[attempt.limit] = subject->work;
                tooMuch = fmt::format("{:.2g} operations are too many for it", subject->work);
                continue;
            }
            works[attempt.limit] = 0;
            const std::size_t shapes = check_.shapes.size();
            const auto done = subject ? compared(*subject) : std::unexpected(subject.error());
            if (done) {
                if (check_.outcome != ModelCheck::Outcome::Differs)
                    check_.why.clear();
                return;
            }
            // The reason that counts is that of the largest extents.
            if (check_.outcome == ModelCheck::Outcome::Differs || check_.why.empty())
                check_.why = done.error().describe();
            if (check_.outcome == ModelCheck::Outcome::Differs)
                return;
            check_.shapes.resize(shapes);
        }
        if (check_.why.empty())
            check_.why = tooMuch.empty() ? "stopped before it was compared" : tooMuch;
    }

    /// Values at export may be as large as other extents.
    [[nodiscard]] SymbolValues smaller(const SymbolValues& symbols,
                                       const ExtentLimit& limit) const {
        SymbolValues values = symbols;
        for (auto& [symbol, value] : values)
            if (limit) {
                const std::int64_t before = value;
                value = smallerExtent(value, *limit);
                if (!symbolProblem(program_, values).empty())
                    value = before;
            }
        return values;
    }

    [[nodiscard]] Result<Subject> planned(ProgramExtents extents) const {
        KERNELSKILL_TRY(Program typed, withRaisedTypes(withExtents(program_, extents.largest)));
        KERNELSKILL_TRY(Program valued, withSymbolValues(std::move(typed), extents.symbols));
        KERNELSKILL_TRY(ModelPlan plan, plannedModel(valued, "model", options_.model));
        double work = workOf(plan);
        if (!program_.symbols.empty()) {
            // A plan estimates by no values of symbols.
            KERNELSKILL_TRY(const ModelPlan fixed,
                            plannedModel(withFixedExtents(valued), "model", options_.model));
            work = workOf(fixed);
        }
        return Subject{std::move(extents), std::move(valued), std::move(plan), work};
    }

    Result<void> compared(const Subject& subject) {
        const ModelPlan& plan = subject.plan;
        BufferMemory memory(plan.program.buffers.size());
        if (auto given = giveTensors(subject, memory); !given)
            return given;
        const auto wanted = giveLibraryResults(subject, memory);
        if (!wanted)
            return std::unexpected(wanted.error());
        if (auto ran =
                runModel(plan, subject.extents.symbols, memory, executor_, toolchain_, stop_);
            !ran) {
            // A kernel that is only too long for this machine is no wrong one.
            const bool isUnknown = ran.error().kind == ErrorKind::Unsupported ||
                                   ran.error().kind == ErrorKind::Cancelled ||
                                   isCutOff(ran.error());
            if (!isUnknown)
                check_.outcome = ModelCheck::Outcome::Differs;
            return ran;
        }
        check_.kernels = 0;
        for (const ModelStep& step : plan.steps)
            check_.kernels += std::holds_alternative<Kernel>(step.work) ? 1 : 0;
        compare(plan, memory, *wanted);
        return {};
    }

    static double workOf(const ModelPlan& plan) {
        double work = 0;
        for (const ModelStep& step : plan.steps)
            if (const auto* kernel = std::get_if<Kernel>(&step.work))
                work += kernel->operations + kernel->bytes / sizeof(float);
        return work;
    }

    /// Inputs and weights, in the plan's order, which is the program's.
    Result<void> giveTensors(const Subject& subject, BufferMemory& memory) {
        const ModelPlan& plan = subject.plan;
        const Program& program = subject.program;
        const Program fixed = withFixedExtents(program);
        std::vector<std::string>& shapes = check_.shapes.emplace_back();
        std::size_t weight = 0;
        std::size_t input = 0;
        for (const Input& each : program.inputs) {
            const auto type = program.values.find(each.value);
            if (type == program.values.end())
                continue;
            const bool isUsers = each.kind == Input::Kind::User;
            if (isUsers)
                shapes.push_back(each.value + " " + graph::textOf(fixed.values.at(each.value)));
            const ModelTensor& tensor =
                isUsers ? plan.inputs.at(input++) : plan.weights.at(weight++);
            const auto held = program.tensors.find(each.target);
            const bool isHeld = held != program.tensors.end() && held->second.owner != nullptr;
            const auto data = isHeld ? Result<TensorData>(held->second)
                                     : seededTensor(program, each, options_.seed);
            if (!data)
                return std::unexpected(data.error());
            memory[tensor.buffer] = contiguousBytes(*data);
        }
        return {};
    }

    /// The tensors that a node computes, by name.
    static std::vector<std::string> resultsOf(const Program& program, const std::string& node) {
        std::vector<std::string> names;
        const auto found = std::ranges::find(program.nodes, node, &Node::name);
        if (found == program.nodes.end())
            return names;
        for (const auto& list : found->results)
            for (const std::string& name : list)
                if (program.values.contains(name))
                    names.push_back(name);
        return names;
    }

    /// Runs the reference, and takes from it what libraries would compute.
    Result<TorchRun> giveLibraryResults(const Subject& subject, BufferMemory& memory) {
        const ModelPlan& plan = subject.plan;
        std::map<std::string, analysis::raise::BufferId> results;
        std::set<analysis::raise::BufferId> turned;
        for (const analysis::raise::LibraryCall* call : libraryCalls(plan)) {
            for (std::size_t i = 0; const std::string& name : resultsOf(plan.graph, call->node))
                if (i < call->outputs.size() && program_.values.contains(name))
                    results.emplace(name, call->outputs[i++]);
            if (call->isChannelsLast)
                turned.insert(call->outputs.begin(), call->outputs.end());
        }
        std::vector<std::string> names;
        for (const auto& [name, buffer] : results)
            names.push_back(name);
        auto run = reference_(subject.extents, names);
        if (!run)
            return run;
        for (const auto& [name, buffer] : results) {
            const auto value = run->values.find(name);
            if (value == run->values.end())
                continue;
            const TensorData tensor =
                turned.contains(buffer) ? inChannelsLast(value->second) : value->second;
            auto bytes = bytesOf(plan.program.buffers[buffer].element, tensor);
            if (!bytes)
                return std::unexpected(bytes.error());
            memory[buffer] = *std::move(bytes);
        }
        return run;
    }

    /// The tensor with its axes in channels-last order.
    static TensorData inChannelsLast(TensorData tensor) {
        if (analysis::raise::hasChannelsLast(tensor.type.sizes.size())) {
            tensor.type.sizes = analysis::raise::inChannelsLast(std::move(tensor.type.sizes));
            tensor.type.strides = analysis::raise::inChannelsLast(std::move(tensor.type.strides));
        }
        return tensor;
    }

    /// The tensor, which the reference computed in float64, in a buffer's element type.
    static Result<std::vector<std::byte>> bytesOf(analysis::ScalarKind element,
                                                  const TensorData& tensor) {
        if (scalarKindOf(tensor.type.element) == element)
            return contiguousBytes(tensor);
        if (element != analysis::ScalarKind::Float)
            return std::unexpected(Error{ErrorKind::Unsupported,
                                         "a library's result is neither float32 nor of the "
                                         "reference's element type",
                                         "", ""});
        std::vector<std::byte> bytes;
        for (const double number : numbersIn(tensor)) {
            const auto single =
                std::bit_cast<std::array<std::byte, sizeof(float)>>(static_cast<float>(number));
            bytes.insert(bytes.end(), single.begin(), single.end());
        }
        return bytes;
    }

    void compare(const ModelPlan& plan, const BufferMemory& memory, const TorchRun& wanted) {
        if (check_.outcome != ModelCheck::Outcome::Differs)
            check_.outcome = ModelCheck::Outcome::Agrees;
        std::size_t output = 0;
        for (const auto& tensor : wanted.outputs) {
            if (!tensor)
                continue;
            const ModelTensor& given = plan.outputs.at(output++);
            const analysis::ScalarKind element = plan.program.buffers[given.buffer].element;
            compare(given.source, numbersIn(element, memory[given.buffer]), numbersIn(*tensor),
                    toleranceFor(element, options_.model.kernels.multiply));
        }
    }

    void compare(const std::string& output, const std::vector<double>& found,
                 const std::vector<double>& expected, double tolerance) {
        const auto differ = [&](const std::string& how) {
            if (check_.outcome != ModelCheck::Outcome::Differs)
                check_.why = fmt::format("the output {} {}", output, how);
            check_.outcome = ModelCheck::Outcome::Differs;
        };
        if (found.size() != expected.size())
            return differ(
                fmt::format("has {} elements instead of {}", found.size(), expected.size()));
        for (std::size_t i = 0; i < found.size(); ++i) {
            const double error = errorOf(found[i], expected[i]);
            check_.largestError = std::max(check_.largestError, error);
            if (error > tolerance)
                differ(fmt::format("has {} instead of {} as element {}", found[i], expected[i], i));
        }
    }

    const Program& program_;
    const ModelReference& reference_;
    const ModelCheckOptions& options_;
    Executor& executor_;
    const analysis::Toolchain& toolchain_;
    std::stop_token stop_;
    ModelCheck check_;
};

} // namespace

std::string_view nameOf(ModelCheck::Outcome outcome) {
    switch (outcome) {
    case ModelCheck::Outcome::Agrees:
        return "agrees";
    case ModelCheck::Outcome::Differs:
        return "differs";
    case ModelCheck::Outcome::NotCompared:
        break;
    }
    return "not-compared";
}

Result<Program> withRaisedTypes(Program program) {
    const auto shapes = raised(program);
    if (!shapes)
        return std::unexpected(shapes.error());
    SymbolValues symbols;
    if (!program.symbols.empty()) {
        KERNELSKILL_TRY(symbols, exportedSymbols(program));
    }
    for (auto& [name, type] : program.values) {
        const auto shape = shapes->shapes.find(name);
        if (shape == shapes->shapes.end())
            continue;
        std::vector<Extent> sizes;
        for (const analysis::raise::Index& extent : shape->second) {
            const auto size = extent.constant();
            Extent known{size.value_or(0), size ? std::string() : expressionText(extent)};
            if (!size) {
                KERNELSKILL_TRY(known.value, evaluateExtent(known, symbols));
            }
            if (known.value < 0)
                return std::unexpected(Error{ErrorKind::Unsupported,
                                             "an extent of " + name + " is not known", "", ""});
            sizes.push_back(std::move(known));
        }
        type = contiguousType(type.element, std::move(sizes));
    }
    return program;
}

ModelCheck checkModel(const Program& program, const ModelReference& reference,
                      const ModelCheckOptions& options, Executor& executor,
                      const analysis::Toolchain& toolchain, std::stop_token stop) {
    return ModelCheckRun(program, reference, options, executor, toolchain, std::move(stop)).run();
}

} // namespace kernelskill::engine::graph
