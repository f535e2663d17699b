#include "engine/inputs/kernel_text.h"

#include <algorithm>
#include <map>

namespace kernelskill::engine {

using analysis::Token;
using analysis::TokenKind;

namespace {

struct IndexUse {
    bool thread[3] = {};
    bool block[3] = {};
};

class KernelReader {
public:
    KernelReader(const ProgramText& program, const FunctionText& function,
                 const analysis::KernelModel& kernel)
        : tokens_(program.files()[function.file].tokens), function_(function), kernel_(kernel) {
        result_.function = &function;
    }

    KernelText run() {
        for (auto i = function_.bodyBegin; i < function_.bodyEnd; ++i) {
            const auto& token = tokens_[i];
            if (!token.isIdentifier())
                continue;
            result_.names.emplace(token.text);
            if (token.is("__shared__"))
                sharedArray(i);
            else if (i + 1 < function_.bodyEnd && tokens_[i + 1].is("="))
                assignment(i);
        }
        const auto uses = indexUse(function_.bodyBegin, function_.bodyEnd);
        for (int a = 0; a < 3; ++a) {
            result_.usesThread[a] = uses.thread[a];
            result_.usesBlock[a] = uses.block[a];
        }
        for (auto i = function_.bodyBegin; i < function_.bodyEnd; ++i) {
            comparison(i);
            blockFactor(i);
            if (tokens_[i].is("["))
                subscript(i);
        }
        loopBounds();
        for (auto i = function_.bodyBegin; i + 1 < function_.bodyEnd; ++i) {
            if (tokens_[i].is("atomicCAS") && tokens_[i + 1].is("("))
                exchange(i + 1);
            else if (tokens_[i].is("while") && tokens_[i + 1].is("("))
                whileLoop(i + 1);
            else if (tokens_[i].is("for") && isEndlessFor(i + 1))
                exits(matchingBracket(tokens_, i + 1) + 1);
        }
        return std::move(result_);
    }

private:
    static int axisOf(const Token& token) {
        return token.is("x") ? 0 : token.is("y") ? 1 : token.is("z") ? 2 : -1;
    }

    IndexUse indexUse(std::size_t begin, std::size_t end) const {
        IndexUse use;
        for (auto i = begin; i < end; ++i) {
            if (i + 2 < tokens_.size() && tokens_[i + 1].is(".")) {
                const int axis = axisOf(tokens_[i + 2]);
                if (axis >= 0 && tokens_[i].is("threadIdx"))
                    use.thread[axis] = true;
                else if (axis >= 0 && tokens_[i].is("blockIdx"))
                    use.block[axis] = true;
            }
            if (const auto known = variables_.find(tokens_[i].text); known != variables_.end()) {
                for (int a = 0; a < 3; ++a) {
                    use.thread[a] = use.thread[a] || known->second.thread[a];
                    use.block[a] = use.block[a] || known->second.block[a];
                }
            }
        }
        return use;
    }

    std::size_t statementEnd(std::size_t i) const {
        for (; i < function_.bodyEnd; ++i) {
            if (tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{"))
                i = matchingBracket(tokens_, i);
            else if (tokens_[i].is(";") || tokens_[i].is(",") || tokens_[i].is(")"))
                break;
        }
        return std::min(i, function_.bodyEnd);
    }

    void assignment(std::size_t i) {
        if (i > 0 && (tokens_[i - 1].is(".") || tokens_[i - 1].is("->")))
            return;
        const auto end = statementEnd(i + 2);
        const auto use = indexUse(i + 2, end);
        const bool any = std::any_of(use.thread, use.thread + 3, [](bool b) { return b; }) ||
                         std::any_of(use.block, use.block + 3, [](bool b) { return b; });
        bool loads = false;
        for (auto j = i + 2; j < end; ++j)
            loads = loads || tokens_[j].is("[");
        if (any && !loads)
            variables_.emplace(tokens_[i].text, use);
        for (auto j = i + 2; j + 1 < end; ++j) {
            if (isPointer(tokens_[j].text) && tokens_[j + 1].is("["))
                loadedFrom_[std::string(tokens_[i].text)].emplace(tokens_[j].text);
        }
    }

    bool isPointer(std::string_view name) const {
        return std::ranges::any_of(kernel_.parameters, [&](const auto& parameter) {
            return parameter.name == name && parameter.type.pointerDepth > 0;
        });
    }

    /// index < bound, bound > index and the like.
    void comparison(std::size_t i) {
        const auto& token = tokens_[i];
        const bool less = token.is("<") || token.is("<=") || token.is(">=") || token.is(">");
        if (!less || i <= function_.bodyBegin || isShiftRight(tokens_, i) ||
            (token.is("<") && matchingAngle(tokens_, i) != i && tokens_[i - 1].isIdentifier() &&
             !variables_.contains(tokens_[i - 1].text)))
            return;
        const auto left = variables_.find(tokens_[i - 1].text);
        if (left == variables_.end())
            return;
        auto end = i + 1;
        for (; end < function_.bodyEnd; ++end) {
            if (tokens_[end].is("(") || tokens_[end].is("["))
                end = matchingBracket(tokens_, end);
            else if (tokens_[end].is("&&") || tokens_[end].is("||") || tokens_[end].is(")") ||
                     tokens_[end].is(";") || tokens_[end].is("?"))
                break;
        }
        const auto uses = [&](int axis) {
            return left->second.thread[axis] || left->second.block[axis];
        };
        const bool isShared = uses(0) + uses(1) + uses(2) > 1;
        for (int axis = 0; axis < 3; ++axis) {
            const bool isBetter =
                !result_.bounds[axis] || (result_.boundIsShared[axis] && !isShared);
            if (!uses(axis) || !isBetter || indexUse(i + 1, end).thread[axis])
                continue;
            result_.bounds[axis] = {i + 1, end};
            result_.boundIsShared[axis] = isShared;
            result_.boundIsPerBlock[axis] = !left->second.thread[axis];
        }
    }

    /// blockIdx.x * 512 + threadIdx.x, or 512 * blockIdx.x + threadIdx.x
    void blockFactor(std::size_t i) {
        if (!tokens_[i].is("blockIdx") || i + 6 >= function_.bodyEnd || i < 3)
            return;
        const int axis = axisOf(tokens_[i + 2]);
        if (axis < 0 || result_.blockFactor[axis])
            return;
        const auto addsThread = [&](std::size_t plus) {
            return tokens_[plus].is("+") && tokens_[plus + 1].is("threadIdx");
        };
        const auto isFactor = [&](std::size_t at) {
            return tokens_[at].kind == TokenKind::Number ||
                   (tokens_[at].isIdentifier() && !tokens_[at].is("blockDim") && !axisName(at));
        };
        if (tokens_[i + 3].is("*") && isFactor(i + 4) && addsThread(i + 5))
            result_.blockFactor[axis] = {i + 4, i + 5};
        else if (tokens_[i - 1].is("*") && isFactor(i - 2) && addsThread(i + 3))
            result_.blockFactor[axis] = {i - 2, i - 1};
    }

    /// Whether the token is the x of something.x.
    bool axisName(std::size_t at) const { return at > 0 && tokens_[at - 1].is("."); }

    void markIndex(std::string_view pointer) { result_.indexPointers.emplace(pointer); }

    /// Whether the operator behind an element of `pointer` makes an index of any value: a remainder
    /// of an unsigned number, or a mask.
    bool isReduced(std::string_view pointer, std::size_t behind) const {
        if (behind >= function_.bodyEnd)
            return false;
        const auto found =
            std::ranges::find(kernel_.parameters, pointer, &analysis::Parameter::name);
        const bool isUnsigned = found != kernel_.parameters.end() &&
                                (found->type.scalar == analysis::ScalarKind::UInt32 ||
                                 found->type.scalar == analysis::ScalarKind::UInt64);
        return tokens_[behind].is("&") || (tokens_[behind].is("%") && isUnsigned);
    }

    void subscript(std::size_t open) {
        const auto close = matchingBracket(tokens_, open);
        // `end` is that of the element, or of the variable that holds it.
        const auto mark = [&](const std::string& pointer, std::size_t begin, std::size_t end) {
            if (isReduced(pointer, end))
                return;
            markIndex(pointer);
            if (begin == open + 1 && end == close && isPointer(tokens_[open - 1].text))
                result_.subscripted[pointer].emplace(tokens_[open - 1].text);
        };
        for (auto i = open + 1; i < close && i < function_.bodyEnd; ++i) {
            const std::string name(tokens_[i].text);
            if (isPointer(name) && tokens_[i + 1].is("["))
                mark(name, i, matchingBracket(tokens_, i + 1) + 1);
            if (const auto loaded = loadedFrom_.find(name); loaded != loadedFrom_.end())
                for (const auto& pointer : loaded->second)
                    mark(pointer, i, i + 1);
        }
        if (open > 0 && isPointer(tokens_[open - 1].text) && close >= open + 3 &&
            close < tokens_.size() && tokens_[close - 2].is("+") && tokens_[close - 1].text == "1")
            result_.offsetPointers.emplace(tokens_[open - 1].text);
    }

    /// for (j = row[i]; j < row[i + 1]; …): the loop's bounds are indices.
    void loopBounds() {
        for (auto i = function_.bodyBegin; i + 1 < function_.bodyEnd; ++i) {
            if (!tokens_[i].is("for") || !tokens_[i + 1].is("("))
                continue;
            const auto close = matchingBracket(tokens_, i + 1);
            for (auto j = i + 2; j < close && j + 1 < function_.bodyEnd; ++j) {
                if (isPointer(tokens_[j].text) && tokens_[j + 1].is("["))
                    markIndex(tokens_[j].text);
                if (const auto loaded = loadedFrom_.find(std::string(tokens_[j].text));
                    loaded != loadedFrom_.end()) {
                    for (const auto& pointer : loaded->second)
                        markIndex(pointer);
                }
            }
        }
        std::erase_if(result_.offsetPointers, [&](const auto& pointer) {
            return !result_.indexPointers.contains(pointer);
        });
    }

    /// The pointer parameter that the tokens go through, as in `&table[slot].key`.
    std::optional<std::string> pointerIn(std::size_t begin, std::size_t end) const {
        for (auto i = begin; i < end; ++i) {
            if (isPointer(tokens_[i].text))
                return std::string(tokens_[i].text);
        }
        return std::nullopt;
    }

    /// atomicCAS(&table[slot], empty, key)
    void exchange(std::size_t open) {
        const auto close = matchingBracket(tokens_, open);
        std::vector<std::size_t> commas;
        for (auto i = open + 1; i < close; ++i) {
            if (tokens_[i].is("(") || tokens_[i].is("["))
                i = matchingBracket(tokens_, i);
            else if (tokens_[i].is(","))
                commas.push_back(i);
        }
        if (commas.size() < 2)
            return;
        if (const auto pointer = pointerIn(open + 1, commas[0]))
            result_.sentinels.emplace(*pointer, std::pair{commas[0] + 1, commas[1]});
    }

    /// while (table[slot] != empty), or while (true) with an exit inside
    void whileLoop(std::size_t open) {
        const auto close = matchingBracket(tokens_, open);
        const bool endless =
            close == open + 2 && (tokens_[open + 1].is("true") || tokens_[open + 1].is("1"));
        if (endless)
            exits(close + 1);
        else
            sentinelIn(open + 1, close);
    }

    bool isEndlessFor(std::size_t open) const {
        return open + 3 < function_.bodyEnd && tokens_[open].is("(") && tokens_[open + 1].is(";") &&
               tokens_[open + 2].is(";") && tokens_[open + 3].is(")");
    }

    void exits(std::size_t body) {
        if (body >= function_.bodyEnd || !tokens_[body].is("{"))
            return;
        const auto end = std::min(matchingBracket(tokens_, body), function_.bodyEnd);
        for (auto i = body; i + 1 < end; ++i) {
            if (tokens_[i].is("if") && tokens_[i + 1].is("("))
                sentinelIn(i + 2, matchingBracket(tokens_, i + 1));
        }
    }

    /// table[slot].key == empty
    void sentinelIn(std::size_t begin, std::size_t end) {
        for (auto i = begin; i + 1 < end; ++i) {
            if (!isPointer(tokens_[i].text) || !tokens_[i + 1].is("["))
                continue;
            auto next = matchingBracket(tokens_, i + 1) + 1;
            if (next + 1 < end && tokens_[next].is("."))
                next += 2;
            if (next >= end || (!tokens_[next].is("==") && !tokens_[next].is("!=")))
                continue;
            auto last = next + 1;
            while (last < end && !tokens_[last].is("&&") && !tokens_[last].is("||") &&
                   !tokens_[last].is(")"))
                ++last;
            result_.sentinels.emplace(tokens_[i].text, std::pair{next + 1, last});
        }
    }

    void sharedArray(std::size_t i) {
        const bool dynamic = i > 0 && tokens_[i - 1].is("extern");
        result_.hasDynamicShared = result_.hasDynamicShared || dynamic;
        if (dynamic || !result_.sharedExtents.empty())
            return;
        const auto end = statementEnd(i);
        for (auto j = i; j < end; ++j) {
            if (!tokens_[j].is("["))
                continue;
            const auto close = matchingBracket(tokens_, j);
            result_.sharedExtents.emplace_back(j + 1, close);
            j = close;
        }
    }

    const std::vector<Token>& tokens_;
    const FunctionText& function_;
    const analysis::KernelModel& kernel_;
    KernelText result_;
    std::map<std::string, IndexUse, std::less<>>
        variables_; ///< Variables made of thread and block indices.
    std::map<std::string, std::set<std::string>> loadedFrom_;
};

} // namespace

std::optional<KernelText> readKernelText(const ProgramText& program,
                                         const analysis::KernelModel& kernel) {
    const auto file = program.fileIndex(kernel.file);
    if (!file)
        return std::nullopt;
    for (const auto* function : program.functionsNamed(kernel.name)) {
        const auto& tokens = program.files()[*file].tokens;
        if (function->file == *file && function->parametersBegin > 0 &&
            tokens[function->parametersBegin - 1].span.begin == kernel.nameSpan.begin)
            return KernelReader(program, *function, kernel).run();
    }
    for (const auto* function : program.functionsNamed(kernel.name)) {
        if (function->file == *file && function->isKernel)
            return KernelReader(program, *function, kernel).run();
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
