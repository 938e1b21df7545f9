// Objects, containers and strings, as C++ programs have them.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double side) : side_(side) {}
  double area() const override { return side_ * side_; }
  double side_;
};
struct Named : Shape {
  Named(std::unique_ptr<Shape> inner, std::string name)
      : inner_(std::move(inner)), name_(std::move(name)) {}
  double area() const override { return inner_->area() + double(name_.size()); }
  std::unique_ptr<Shape> inner_;
  std::string name_;
};

int main(int count, char** arguments) {
  const long times = count > 1 ? std::atol(arguments[1]) : 1;
  double sum = 0;
  for (long round = 0; round < 12 * times; ++round) {
    std::vector<std::unique_ptr<Shape>> shapes;
    std::map<int, Shape*> index;
    for (int i = 0; i < 60000; ++i) {
      auto square = std::make_unique<Square>(i % 17);
      if (i % 3 == 0)
        shapes.push_back(std::make_unique<Named>(
            std::move(square), "a name that is long enough " + std::to_string(i)));
      else
        shapes.push_back(std::move(square));
      index[i * 7919 % 100003] = shapes.back().get();
    }
    for (const auto& [key, shape] : index) sum += shape->area();
    for (int i = 0; i < 60000; i += 2) shapes[i].reset();
  }
  std::printf("%.0f\n", sum);
}
