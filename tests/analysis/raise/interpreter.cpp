#include "tests/analysis/raise/interpreter.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What an evaluation reads.
struct Environment {
    const Memory& memory;
    std::vector<std::vector<std::int64_t>> shapes; ///< Of the buffers.
    std::map<std::string, std::int64_t> sizes;
    Precision precision;
    std::unordered_map<std::uint32_t, std::int64_t> axes; ///< By id.
    std::vector<double> accumulated;
};

double minimumOf(double left, double right) {
    return std::isnan(left) || std::isnan(right) ? nan : std::min(left, right);
}
double maximumOf(double left, double right) {
    return std::isnan(left) || std::isnan(right) ? nan : std::max(left, right);
}

double applied(Function function, ScalarKind type, const std::vector<double>& values) {
    const double x = values[0];
    const double y = values.size() > 1 ? values[1] : 0;
    switch (function) {
    case Function::Add:
        return x + y;
    case Function::Subtract:
        return x - y;
    case Function::Multiply:
        return x * y;
    case Function::Divide:
        return isFloating(type) ? x / y : y == 0 ? 0 : std::trunc(x / y);
    case Function::Negate:
        return -x;
    case Function::Absolute:
        return std::abs(x);
    case Function::Exponential:
        return std::exp(x);
    case Function::ExponentialMinusOne:
        return std::expm1(x);
    case Function::Logarithm:
        return std::log(x);
    case Function::LogarithmOfOnePlus:
        return std::log1p(x);
    case Function::SquareRoot:
        return std::sqrt(x);
    case Function::ReciprocalSquareRoot:
        return 1 / std::sqrt(x);
    case Function::Tanh:
        return std::tanh(x);
    case Function::ErrorFunction:
        return std::erf(x);
    case Function::Power:
        return std::pow(x, y);
    case Function::Minimum:
        return minimumOf(x, y);
    case Function::Maximum:
        return maximumOf(x, y);
    case Function::Less:
        return x < y ? 1 : 0;
    case Function::LessOrEqual:
        return x <= y ? 1 : 0;
    case Function::Equal:
        return x == y ? 1 : 0;
    case Function::And:
        return x != 0 && y != 0 ? 1 : 0;
    case Function::Not:
        return x == 0 ? 1 : 0;
    case Function::Convert:
        return type == ScalarKind::Bool ? (x != 0 ? 1 : 0) : isFloating(type) ? x : std::trunc(x);
    }
    return nan;
}

/// Evaluates scalars and indices. Results of one element are kept until forget().
class Evaluation {
public:
    explicit Evaluation(Environment& environment) : environment_(environment) {}

    void forget() { known_.clear(); }

    double operator()(const Scalar& scalar) {
        if (const auto known = known_.find(scalar.get()); known != known_.end())
            return known->second;
        double value = evaluated(*scalar);
        if (environment_.precision == Precision::AsWritten || !isFloating(scalar->type))
            value = rounded(value, scalar->type);
        known_.emplace(scalar.get(), value);
        return value;
    }

    std::int64_t operator()(const Index& index) {
        std::int64_t sum = 0;
        for (const auto& [key, monomial] : index.terms()) {
            std::int64_t product = monomial.factor;
            for (const Index::AtomRef& atom : monomial.atoms)
                product *= valueOfAtom(*atom);
            sum += product;
        }
        return sum;
    }

private:
    double evaluated(const ScalarNode& node) {
        switch (node.kind) {
        case ScalarNode::Kind::Number:
            return isFloating(node.type) ? node.number : static_cast<double>(node.integer);
        case ScalarNode::Kind::Position:
            return static_cast<double>((*this)(node.index));
        case ScalarNode::Kind::Load: {
            const auto at = place(node.buffer, node.position);
            return at ? environment_.memory[node.buffer][*at] : nan;
        }
        case ScalarNode::Kind::Accumulated:
            return environment_.accumulated.at(node.reduction);
        case ScalarNode::Kind::Select:
            return (*this)(node.arguments[(*this)(node.arguments[0]) != 0 ? 1 : 2]);
        case ScalarNode::Kind::Call:
            break;
        }
        std::vector<double> values;
        for (const Scalar& argument : node.arguments)
            values.push_back((*this)(argument));
        return applied(node.function, node.type, values);
    }

    std::int64_t valueOfAtom(const Index::Atom& atom) {
        switch (atom.kind) {
        case Index::Atom::Kind::Axis:
            return environment_.axes.at(atom.axis.id);
        case Index::Atom::Kind::Size:
            return environment_.sizes.at(atom.name);
        case Index::Atom::Kind::Quotient: {
            const std::int64_t left = (*this)(*atom.left);
            const std::int64_t right = (*this)(*atom.right);
            return right == 0 ? 0 : left / right - (left % right < 0 ? 1 : 0);
        }
        case Index::Atom::Kind::Remainder: {
            const std::int64_t right = (*this)(*atom.right);
            return right == 0 ? 0 : ((*this)(*atom.left) % right + right) % right;
        }
        case Index::Atom::Kind::Data:
            return static_cast<std::int64_t>((*this)(atom.data));
        }
        return 0;
    }

public:
    /// The number of the element; nullopt outside of the buffer.
    std::optional<std::size_t> place(BufferId buffer, const std::vector<Index>& position) {
        const std::vector<std::int64_t>& shape = environment_.shapes[buffer];
        std::int64_t at = 0;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            const std::int64_t one = (*this)(position.at(i));
            if (one < 0 || one >= shape[i])
                return std::nullopt;
            at = at * shape[i] + one;
        }
        return static_cast<std::size_t>(at);
    }

private:
    Environment& environment_;
    std::unordered_map<const ScalarNode*, double> known_;
};

/// Runs over all elements of some axes, the last one fastest.
class Odometer {
public:
    Odometer(const std::vector<Axis>& axes, Environment& environment)
        : axes_(axes), environment_(environment) {
        for (const Axis& axis : axes)
            extents_.push_back(*valueOf(*axis.extent, environment.sizes));
        isDone_ = std::ranges::any_of(extents_, [](std::int64_t extent) { return extent <= 0; });
        for (const Axis& axis : axes)
            environment_.axes[axis.id] = 0;
    }
    [[nodiscard]] bool isDone() const { return isDone_; }
    void next() {
        for (std::size_t i = axes_.size(); i-- > 0;) {
            std::int64_t& at = environment_.axes[axes_[i].id];
            if (++at < extents_[i])
                return;
            at = 0;
        }
        isDone_ = true;
    }

private:
    const std::vector<Axis>& axes_;
    Environment& environment_;
    std::vector<std::int64_t> extents_;
    bool isDone_ = false;
};

/// The running result of a reduction.
class Accumulator {
public:
    explicit Accumulator(Reducer reducer) : reducer_(reducer) {
        if (reducer == Reducer::Product)
            value_ = 1;
        else if (isOf(Reducer::Maximum, Reducer::FirstMaximum))
            value_ = -std::numeric_limits<double>::infinity();
        else if (isOf(Reducer::Minimum, Reducer::FirstMinimum))
            value_ = std::numeric_limits<double>::infinity();
    }
    void take(double value) {
        switch (reducer_) {
        case Reducer::Sum:
            value_ += value;
            break;
        case Reducer::Product:
            value_ *= value;
            break;
        case Reducer::Maximum:
            value_ = maximumOf(value_, value);
            break;
        case Reducer::Minimum:
            value_ = minimumOf(value_, value);
            break;
        case Reducer::FirstMaximum:
        case Reducer::FirstMinimum:
            // The first that is not a number wins over all numbers.
            if (taken_ == 0 ||
                (!std::isnan(value_) &&
                 (std::isnan(value) ||
                  (reducer_ == Reducer::FirstMaximum ? value > value_ : value < value_)))) {
                value_ = value;
                place_ = taken_;
            }
            break;
        }
        ++taken_;
    }
    [[nodiscard]] double result() const {
        return isOf(Reducer::FirstMaximum, Reducer::FirstMinimum) ? static_cast<double>(place_)
                                                                  : value_;
    }

private:
    [[nodiscard]] bool isOf(Reducer one, Reducer other) const {
        return reducer_ == one || reducer_ == other;
    }
    Reducer reducer_;
    double value_ = 0;
    std::int64_t place_ = 0;
    std::int64_t taken_ = 0;
};

class Interpreter {
public:
    Interpreter(const Program& program, Memory& memory, const InterpreterOptions& options)
        : program_(program), memory_(memory), options_(options),
          environment_{memory, {}, options.sizes, options.precision, {}, {}} {}

    std::expected<void, std::string> run() {
        memory_.resize(program_.buffers.size());
        for (std::size_t i = 0; i < program_.buffers.size(); ++i)
            if (auto made = prepare(program_.buffers[i], memory_[i]); !made)
                return made;
        for (const Step& step : program_.steps) {
            const auto* computation = std::get_if<Computation>(&step);
            if (computation == nullptr) {
                const auto& work = std::get<LibraryCall>(step);
                return std::unexpected(
                    fmt::format("{} is left to a library: {}", work.node, work.reason));
            }
            if (auto done = run(*computation); !done)
                return done;
        }
        return {};
    }

private:
    std::expected<void, std::string> prepare(const Buffer& buffer, std::vector<double>& elements) {
        std::vector<std::int64_t> shape;
        std::size_t count = 1;
        for (const Index& extent : buffer.shape) {
            const auto value = valueOf(extent, options_.sizes);
            if (!value || *value < 0)
                return std::unexpected(
                    fmt::format("the size {} of {} is not known", extent.text(), buffer.name));
            shape.push_back(*value);
            count *= static_cast<std::size_t>(*value);
            if (count > options_.maxElements)
                return std::unexpected(fmt::format("{} has too many elements", buffer.name));
        }
        environment_.shapes.push_back(std::move(shape));
        const bool isGiven =
            buffer.role == Buffer::Role::Input || buffer.role == Buffer::Role::Weight;
        if (!isGiven)
            elements.assign(count, nan);
        else if (elements.size() != count)
            return std::unexpected(
                fmt::format("{} has {} elements, not {}", buffer.name, elements.size(), count));
        return {};
    }

    std::expected<void, std::string> run(const Computation& computation) {
        // The axis of a scan runs fastest.
        std::vector<Axis> outer = computation.axes;
        std::vector<Axis> along;
        if (computation.scanned) {
            const auto at = outer.begin() + static_cast<std::ptrdiff_t>(*computation.scanned);
            along.push_back(*at);
            outer.erase(at);
        }
        Evaluation evaluate(environment_);
        for (Odometer element(outer, environment_); !element.isDone(); element.next()) {
            std::vector<Accumulator> accumulators;
            for (const Reduction& reduction : computation.reductions)
                accumulators.emplace_back(reduction.reducer);
            if (!computation.scanned && !accumulators.empty())
                for (Odometer inner(computation.reduced, environment_); !inner.isDone();
                     inner.next())
                    if (auto taken = take(computation, accumulators, evaluate); !taken)
                        return taken;
            for (Odometer inner(along, environment_); !inner.isDone(); inner.next()) {
                if (computation.scanned)
                    if (auto taken = take(computation, accumulators, evaluate); !taken)
                        return taken;
                if (auto stored = store(computation, accumulators, evaluate); !stored)
                    return stored;
            }
        }
        return {};
    }

    std::expected<void, std::string> take(const Computation& computation,
                                          std::vector<Accumulator>& accumulators,
                                          Evaluation& evaluate) {
        if (++evaluated_ > options_.maxElements)
            return std::unexpected(fmt::format("{} evaluates too many elements", computation.name));
        evaluate.forget();
        for (std::size_t i = 0; i < accumulators.size(); ++i)
            accumulators[i].take(evaluate(computation.reductions[i].element));
        return {};
    }

    std::expected<void, std::string> store(const Computation& computation,
                                           const std::vector<Accumulator>& accumulators,
                                           Evaluation& evaluate) {
        if (++evaluated_ > options_.maxElements)
            return std::unexpected(fmt::format("{} evaluates too many elements", computation.name));
        evaluate.forget();
        environment_.accumulated.clear();
        for (std::size_t i = 0; i < accumulators.size(); ++i) {
            const ScalarKind type = computation.reductions[i].type;
            const double result = accumulators[i].result();
            environment_.accumulated.push_back(
                options_.precision == Precision::AsWritten ? rounded(result, type) : result);
        }
        for (const Store& store : computation.stores) {
            const auto at = evaluate.place(store.buffer, store.position);
            if (!at)
                return std::unexpected(fmt::format("{} stores outside of {}", computation.name,
                                                   program_.buffers[store.buffer].name));
            memory_[store.buffer][*at] = evaluate(store.value);
        }
        return {};
    }

    const Program& program_;
    Memory& memory_;
    const InterpreterOptions& options_;
    Environment environment_;
    std::size_t evaluated_ = 0;
};

/// Keeps `bits` bits of the fraction, rounded to the nearest, halves to even.
double withFraction(double value, int bits, int minExponent, double largest) {
    if (value == 0 || !std::isfinite(value))
        return value;
    const int exponent = std::max(std::ilogb(value), minExponent);
    const double step = std::ldexp(1.0, exponent - bits);
    const double result = std::nearbyint(value / step) * step;
    return std::abs(result) > largest
               ? std::copysign(std::numeric_limits<double>::infinity(), result)
               : result;
}

} // namespace

double rounded(double value, ScalarKind type) {
    switch (type) {
    case ScalarKind::Float:
        return static_cast<float>(value);
    case ScalarKind::Half:
        return withFraction(value, 10, -14, 65504);
    case ScalarKind::BFloat16:
        return withFraction(value, 7, -126, 3.3895313892515355e38);
    case ScalarKind::Bool:
        return value != 0 ? 1 : 0;
    case ScalarKind::Char:
        return static_cast<double>(static_cast<std::int8_t>(static_cast<std::int64_t>(value)));
    case ScalarKind::UInt8:
        return static_cast<double>(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
    case ScalarKind::Int16:
        return static_cast<double>(static_cast<std::int16_t>(static_cast<std::int64_t>(value)));
    case ScalarKind::Int32:
        return static_cast<double>(static_cast<std::int32_t>(static_cast<std::int64_t>(value)));
    default:
        return value;
    }
}

std::optional<std::int64_t> valueOf(const Index& index,
                                    const std::map<std::string, std::int64_t>& sizes) {
    std::int64_t sum = 0;
    for (const auto& [key, monomial] : index.terms()) {
        std::int64_t product = monomial.factor;
        for (const Index::AtomRef& atom : monomial.atoms) {
            std::optional<std::int64_t> value;
            if (atom->kind == Index::Atom::Kind::Size) {
                if (const auto known = sizes.find(atom->name); known != sizes.end())
                    value = known->second;
            } else if (atom->left != nullptr) {
                const auto left = valueOf(*atom->left, sizes);
                const auto right = valueOf(*atom->right, sizes);
                if (left && right && *right > 0) {
                    const std::int64_t rest = ((*left % *right) + *right) % *right;
                    value =
                        atom->kind == Index::Atom::Kind::Remainder ? rest : (*left - rest) / *right;
                }
            }
            if (!value)
                return std::nullopt;
            product *= *value;
        }
        sum += product;
    }
    return sum;
}

std::expected<void, std::string> interpret(const Program& program, Memory& memory,
                                           const InterpreterOptions& options) {
    return Interpreter(program, memory, options).run();
}

} // namespace kernelskill::analysis::raise
