# docker build -t attention-workbench .
# docker run -p 8501:8501 -v workbench:/data attention-workbench
FROM python:3.11-slim

# Where torch is installed from. For an NVIDIA GPU build with
# --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu130 and run with --gpus all.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1

RUN useradd --create-home --uid 1000 workbench
RUN mkdir /data && chown workbench /data

WORKDIR /app
COPY requirements.txt ./
COPY .github/requirements.lock ./
RUN pip install --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)"
RUN pip install --require-hashes --requirement requirements.lock
COPY . ./
RUN pip install --no-deps --editable . && python -m compileall -q attention_plugins dashboard

USER workbench
ENV ATTENTION_WORKBENCH_HOME=/data ATTENTION_LOG_FORMAT=json
VOLUME /data
EXPOSE 8501
HEALTHCHECK --start-period=60s --timeout=10s CMD python -c "from urllib.request import urlopen; assert urlopen('http://localhost:8501/_stcore/health', timeout=5).read() == b'ok'"
CMD ["attention-workbench", "serve", "--host", "0.0.0.0", "--port", "8501"]
