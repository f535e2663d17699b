/// Thrust's vectors, pointers and iterators.
#pragma once

#include "cuda_runtime.h"

#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace thrust {

using std::make_pair;
using std::pair;
template <class... T> using tuple = std::tuple<T...>;
template <class... T> __host__ __device__ constexpr tuple<std::decay_t<T>...> make_tuple(T&&... values) {
    return tuple<std::decay_t<T>...>(std::forward<T>(values)...);
}
template <class... T> __host__ __device__ constexpr tuple<T&...> tie(T&... values) { return tuple<T&...>(values...); }
template <std::size_t I, class T> __host__ __device__ constexpr decltype(auto) get(T&& value) {
    return std::get<I>(std::forward<T>(value));
}

/// A pointer into device memory; dereferencing it on the host copies.
template <class T> class device_ptr {
public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = device_ptr<T>;
    using reference = T&;
    __host__ __device__ device_ptr() : raw_(nullptr) {}
    __host__ __device__ device_ptr(std::nullptr_t) : raw_(nullptr) {}
    __host__ __device__ explicit device_ptr(T* raw) : raw_(raw) {}
    template <class U, class = std::enable_if_t<std::is_convertible<U*, T*>::value>>
    __host__ __device__ device_ptr(const device_ptr<U>& other) : raw_(other.get()) {}
    __host__ __device__ T* get() const { return raw_; }
    __host__ __device__ T& operator*() const { return *raw_; }
    __host__ __device__ T* operator->() const { return raw_; }
    __host__ __device__ T& operator[](difference_type i) const { return raw_[i]; }
    __host__ __device__ device_ptr& operator++() { return *this += 1; }
    __host__ __device__ device_ptr operator++(int) {
        device_ptr before = *this;
        *this += 1;
        return before;
    }
    __host__ __device__ device_ptr& operator--() { return *this += -1; }
    __host__ __device__ device_ptr& operator+=(difference_type n) {
        raw_ += n;
        return *this;
    }
    __host__ __device__ device_ptr& operator-=(difference_type n) { return *this += -n; }
    __host__ __device__ device_ptr operator+(difference_type n) const { return device_ptr(raw_ + n); }
    __host__ __device__ device_ptr operator-(difference_type n) const { return device_ptr(raw_ - n); }
    __host__ __device__ difference_type operator-(const device_ptr& other) const { return raw_ - other.raw_; }
    __host__ __device__ bool operator==(const device_ptr& other) const { return raw_ == other.raw_; }
    __host__ __device__ bool operator!=(const device_ptr& other) const { return raw_ != other.raw_; }
    __host__ __device__ bool operator<(const device_ptr& other) const { return raw_ < other.raw_; }
    __host__ __device__ explicit operator bool() const { return raw_ != nullptr; }

private:
    T* raw_;
};
template <class T> using device_reference = T&;
template <class T> __host__ __device__ device_ptr<T> device_pointer_cast(T* raw) { return device_ptr<T>(raw); }
template <class T> __host__ __device__ T* raw_pointer_cast(device_ptr<T> pointer) { return pointer.get(); }
template <class T> __host__ __device__ T* raw_pointer_cast(T* pointer) { return pointer; }
template <class T> __host__ __device__ T& raw_reference_cast(T& value) { return value; }

template <class T> class host_vector;
template <class T> class device_vector {
public:
    using value_type = T;
    using iterator = device_ptr<T>;
    using const_iterator = device_ptr<const T>;
    using pointer = device_ptr<T>;
    using reference = T&;
    using size_type = std::size_t;
    device_vector() = default;
    explicit device_vector(size_type count) : storage_(count) {}
    device_vector(size_type count, const T& value) : storage_(count, value) {}
    template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
    device_vector(Iterator first, Iterator last) : storage_(first, last) {}
    device_vector(std::initializer_list<T> values) : storage_(values) {}
    template <class U> device_vector(const std::vector<U>& other) : storage_(other.begin(), other.end()) {}
    template <class U> device_vector(const host_vector<U>& other) : storage_(other.begin(), other.end()) {}
    template <class U> device_vector& operator=(const std::vector<U>& other) {
        storage_.assign(other.begin(), other.end());
        return *this;
    }
    template <class U> device_vector& operator=(const host_vector<U>& other) {
        storage_.assign(other.begin(), other.end());
        return *this;
    }
    iterator begin() { return iterator(storage_.data()); }
    iterator end() { return begin() + static_cast<std::ptrdiff_t>(size()); }
    const_iterator begin() const { return const_iterator(storage_.data()); }
    const_iterator end() const { return begin() + static_cast<std::ptrdiff_t>(size()); }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    auto rbegin() { return storage_.rbegin(); }
    auto rend() { return storage_.rend(); }
    pointer data() { return begin(); }
    const_iterator data() const { return begin(); }
    T& operator[](size_type i) { return storage_[i]; }
    const T& operator[](size_type i) const { return storage_[i]; }
    T& front() { return storage_.front(); }
    T& back() { return storage_.back(); }
    size_type size() const { return storage_.size(); }
    bool empty() const { return storage_.empty(); }
    size_type capacity() const { return storage_.capacity(); }
    void resize(size_type count) { storage_.resize(count); }
    void resize(size_type count, const T& value) { storage_.resize(count, value); }
    void reserve(size_type count) { storage_.reserve(count); }
    void clear() { storage_.clear(); }
    void shrink_to_fit() { storage_.shrink_to_fit(); }
    void push_back(const T& value) { storage_.push_back(value); }
    void pop_back() { storage_.pop_back(); }
    void swap(device_vector& other) { storage_.swap(other.storage_); }
    template <class Iterator> void assign(Iterator first, Iterator last) { storage_.assign(first, last); }
    iterator erase(iterator first, iterator) { return first; }
    iterator erase(iterator first) { return first; }

private:
    std::vector<T> storage_;
};
template <class T> class host_vector : public std::vector<T> {
public:
    using std::vector<T>::vector;
    host_vector() = default;
    template <class U> host_vector(const device_vector<U>& other) : std::vector<T>(other.begin(), other.end()) {}
    template <class U> host_vector& operator=(const device_vector<U>& other) {
        this->assign(other.begin(), other.end());
        return *this;
    }
};
template <class T> using universal_vector = device_vector<T>;

/// An iterator whose elements are computed, not stored.
template <class Value, class Self> class computed_iterator {
public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = const Value*;
    using reference = Value;
    __host__ __device__ Value operator*() const { return self()[0]; }
    __host__ __device__ Self& operator++() { return self() += 1; }
    __host__ __device__ Self operator++(int) {
        Self before = self();
        self() += 1;
        return before;
    }
    __host__ __device__ Self& operator+=(difference_type n) {
        offset_ += n;
        return self();
    }
    __host__ __device__ Self operator+(difference_type n) const {
        Self moved = self();
        moved += n;
        return moved;
    }
    __host__ __device__ Self operator-(difference_type n) const { return *this + -n; }
    __host__ __device__ difference_type operator-(const computed_iterator& other) const { return offset_ - other.offset_; }
    __host__ __device__ bool operator==(const computed_iterator& other) const { return offset_ == other.offset_; }
    __host__ __device__ bool operator!=(const computed_iterator& other) const { return offset_ != other.offset_; }
    __host__ __device__ bool operator<(const computed_iterator& other) const { return offset_ < other.offset_; }

protected:
    difference_type offset_ = 0;

private:
    __host__ __device__ Self& self() { return static_cast<Self&>(*this); }
    __host__ __device__ const Self& self() const { return static_cast<const Self&>(*this); }
};
template <class T, class = void, class = void, class = void>
class counting_iterator : public computed_iterator<T, counting_iterator<T>> {
public:
    __host__ __device__ explicit counting_iterator(T first = T()) : first_(first) {}
    __host__ __device__ T operator[](std::ptrdiff_t i) const { return static_cast<T>(first_ + this->offset_ + i); }

private:
    T first_;
};
template <class T> __host__ __device__ counting_iterator<T> make_counting_iterator(T first) {
    return counting_iterator<T>(first);
}
template <class T> class constant_iterator : public computed_iterator<T, constant_iterator<T>> {
public:
    __host__ __device__ explicit constant_iterator(T value = T(), std::ptrdiff_t = 0) : value_(value) {}
    __host__ __device__ T operator[](std::ptrdiff_t) const { return value_; }

private:
    T value_;
};
template <class T> __host__ __device__ constant_iterator<T> make_constant_iterator(T value) {
    return constant_iterator<T>(value);
}
template <class Function, class Iterator>
class transform_iterator
    : public computed_iterator<std::decay_t<decltype(std::declval<Function>()(*std::declval<Iterator>()))>,
                               transform_iterator<Function, Iterator>> {
public:
    __host__ __device__ transform_iterator(Iterator base, Function function) : base_(base), function_(function) {}
    __host__ __device__ auto operator[](std::ptrdiff_t i) const { return function_(*(base_ + (this->offset_ + i))); }

private:
    Iterator base_;
    Function function_;
};
template <class Iterator, class Function>
__host__ __device__ transform_iterator<Function, Iterator> make_transform_iterator(Iterator base, Function function) {
    return transform_iterator<Function, Iterator>(base, function);
}
template <class Elements, class Indices>
class permutation_iterator
    : public computed_iterator<typename std::iterator_traits<Elements>::value_type, permutation_iterator<Elements, Indices>> {
public:
    __host__ __device__ permutation_iterator(Elements elements, Indices indices) : elements_(elements), indices_(indices) {}
    __host__ __device__ auto operator[](std::ptrdiff_t i) const { return *(elements_ + *(indices_ + (this->offset_ + i))); }

private:
    Elements elements_;
    Indices indices_;
};
template <class Elements, class Indices>
__host__ __device__ permutation_iterator<Elements, Indices> make_permutation_iterator(Elements elements, Indices indices) {
    return permutation_iterator<Elements, Indices>(elements, indices);
}
template <class Tuple> class zip_iterator;
template <class... Iterators>
class zip_iterator<std::tuple<Iterators...>>
    : public computed_iterator<std::tuple<typename std::iterator_traits<Iterators>::reference...>,
                               zip_iterator<std::tuple<Iterators...>>> {
public:
    __host__ __device__ explicit zip_iterator(std::tuple<Iterators...> iterators) : iterators_(iterators) {}
    __host__ __device__ auto operator[](std::ptrdiff_t i) const {
        return at(this->offset_ + i, std::index_sequence_for<Iterators...>());
    }
    __host__ __device__ const std::tuple<Iterators...>& get_iterator_tuple() const { return iterators_; }

private:
    template <std::size_t... I> __host__ __device__ auto at(std::ptrdiff_t i, std::index_sequence<I...>) const {
        return std::tuple<typename std::iterator_traits<Iterators>::reference...>(*(std::get<I>(iterators_) + i)...);
    }
    std::tuple<Iterators...> iterators_;
};
template <class... Iterators>
__host__ __device__ zip_iterator<std::tuple<Iterators...>> make_zip_iterator(std::tuple<Iterators...> iterators) {
    return zip_iterator<std::tuple<Iterators...>>(iterators);
}
template <class First, class Second, class... Rest>
__host__ __device__ auto make_zip_iterator(First first, Second second, Rest... rest) {
    return make_zip_iterator(std::make_tuple(first, second, rest...));
}
class discard_iterator : public computed_iterator<int, discard_iterator> {
public:
    __host__ __device__ int operator[](std::ptrdiff_t) const { return 0; }
};
inline discard_iterator make_discard_iterator() { return {}; }

} // namespace thrust
